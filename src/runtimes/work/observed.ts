/** What the kernel said about the guest, compared with what the plan promised. */
import { LazaretError } from '../../core/errors/errors.ts'
import { promisedNames } from '../../jail/layers/layers.ts'

const wanted = new Set(['Uid', 'Gid', 'CapInh', 'CapBnd', 'CapAmb', ...promisedNames])

/** The lines of /proc/<pid>/status that a receipt shows. The first line holds a name; nothing in it is trusted. */
export function readStatus(status: string): Record<string, string> {
  const observed: Record<string, string> = {}
  for (const line of status.split('\n').slice(1)) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon)
    if (!wanted.has(name)) continue
    observed[name] = line
      .slice(colon + 1)
      .trim()
      .replaceAll('\t', ' ')
  }
  return observed
}

/**
 * Throws CELL_FAILED when a guest runs without a layer that was built for it: a mistake in Lazaret, never a choice.
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
 * The same of a process in company: another guest may have killed it before it was confined. Then it has no memory any
 * more, so nothing runs unconfined, and its end follows. Throws CELL_FAILED.
 */
export function requireConfined(promises: Readonly<Record<string, string>>, status: string): void {
  if (!isDead(status)) requirePromises(promises, readStatus(status))
}

/** Whether it has no memory any more, and so runs nothing. */
export function isDead(status: string): boolean {
  return status !== '' && !/^VmSize:/m.test(status)
}
