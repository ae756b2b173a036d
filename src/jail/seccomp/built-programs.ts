/**
 * The filters of most guests, which the package's build has made: making one takes as long as a third of an empty script.
 * A checkout that was not built has none, and makes them when they are needed.
 */
import { readFileSync } from 'node:fs'

import type { SeccompOptions } from './policy.ts'

/** Those that are made ahead: for guests with namespaces that may start processes. */
export const builtAhead: readonly SeccompOptions[] = (['x64', 'arm64'] as const).flatMap((architecture) =>
  [true, false].map((memoryHeldByCgroup) => ({ architecture, memoryHeldByCgroup })),
)

/** Undefined for all others, and where none were made. */
export function readBuilt(options: SeccompOptions): Uint8Array | undefined {
  const name = nameOfBuilt(options)
  if (name === undefined) return undefined
  try {
    return readFileSync(`${import.meta.dirname}/${name}`)
  } catch {
    return undefined
  }
}

export function nameOfBuilt(options: SeccompOptions): string | undefined {
  const { architecture, memoryHeldByCgroup, ...others } = options
  if (Object.values(others).some((value) => value !== undefined)) return undefined
  return `filter-${architecture}-${memoryHeldByCgroup ? 'cgroup' : 'watchdog'}.bin`
}
