/** Compares the kernel's view of the guest with the promises of the plan. */
import { LazaretError } from '../../core/errors/errors.ts'
import { promisedNames } from '../../jail/layers/layers.ts'

const wanted = ['Uid', 'Gid', 'CapInh', 'CapBnd', 'CapAmb', ...promisedNames]

/** The lines of /proc/<pid>/status that a receipt shows. Skips the first line, which holds a name that a guest can choose. */
export function readStatus(status: string): Record<string, string> {
  const observed: Record<string, string> = {}
  for (const name of wanted) {
    const start = `\n${name}:`
    const at = status.lastIndexOf(start)
    if (at < 0) continue
    const end = status.indexOf('\n', at + start.length)
    const value = status.slice(at + start.length, end < 0 ? undefined : end)
    observed[name] = value.trim().replaceAll('\t', ' ')
  }
  return observed
}

/**
 * Throws CELL_FAILED if a guest lacks a layer that was planned for it. This would be a bug in Lazaret.
 */
export function requirePromises(
  promises: Readonly<Record<string, string>>,
  observed: Readonly<Record<string, string>>,
): void {
  for (const [name, promised] of Object.entries(promises)) {
    if (observed[name] === promised) continue
    throw new LazaretError('CELL_FAILED', {
      detail: `The guest was started with ${name} ${observed[name] ?? 'unknown'} instead of ${promised}, so it was killed.`,
    })
  }
}

/**
 * The same for a process in a space with other guests, which may kill it before it is confined. A dead process has no memory,
 * so nothing runs unconfined, and it passes. Throws CELL_FAILED.
 */
export function requireConfined(promises: Readonly<Record<string, string>>, status: string): void {
  if (!isDead(status)) requirePromises(promises, readStatus(status))
}

/** Whether the process has no memory any more, and thus cannot run code. */
export function isDead(status: string): boolean {
  return status !== '' && !/^VmSize:/m.test(status)
}
