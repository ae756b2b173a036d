/**
 * How well a run is isolated, best first.
 *
 * - `strong`: a uid of its own, every namespace, seccomp, Landlock, no capabilities, limits enforced by cgroups.
 * - `standard`: the same without a uid of its own or cgroups; limits enforced by rlimits and a watchdog.
 * - `restricted`: no namespaces: Landlock, seccomp and rlimits only.
 * - `none`: no isolation: a process with a system call filter, rlimits and a deadline. Used only when the operator
 *   names it.
 */
export const protectionLevels = ['strong', 'standard', 'restricted', 'none'] as const
export type ProtectionLevel = (typeof protectionLevels)[number]

/** The level that is required by default; to accept a weaker one, name it. */
export const defaultMinimum: ProtectionLevel = 'standard'

/** What protected a run: the level of its cell, or the WebAssembly engine that a snippet has instead of a cell. */
export type Protection = ProtectionLevel | 'wasm'

/** Whether `level` protects at least as well as `minimum`. */
export function isAtLeast(level: ProtectionLevel, minimum: ProtectionLevel): boolean {
  return protectionLevels.indexOf(level) <= protectionLevels.indexOf(minimum)
}
