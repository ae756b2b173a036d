/**
 * How strong the wall around a run is, strongest first.
 *
 * - `strong`: own uid, every namespace, seccomp, Landlock, no capabilities, limits held by cgroups.
 * - `standard`: the same without an own uid or cgroups; limits held by rlimits and a watchdog.
 * - `restricted`: no namespaces: Landlock, seccomp and rlimits only.
 * - `none`: a plain process. Used only when the operator names it.
 */
export const protectionLevels = ['strong', 'standard', 'restricted', 'none'] as const
export type ProtectionLevel = (typeof protectionLevels)[number]

/** What is required of a machine where nobody says more or less. */
export const defaultMinimum: ProtectionLevel = 'restricted'

/** What stood around a run: the level of its cell, or the engine in WebAssembly that a snippet has instead of a cell. */
export type Protection = ProtectionLevel | 'wasm'

/** Whether `level` protects at least as well as `minimum`. */
export function isAtLeast(level: ProtectionLevel, minimum: ProtectionLevel): boolean {
  return protectionLevels.indexOf(level) <= protectionLevels.indexOf(minimum)
}
