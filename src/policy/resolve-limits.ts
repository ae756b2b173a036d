/** Fills gaps and lowers what the operator does not allow. Pure. */
import { defaultLimits } from '../core/limits.ts'
import type { LimitName, Limits } from '../core/limits.ts'

export interface LimitRules {
  readonly defaults: Partial<Limits>
  readonly ceilings: Partial<Limits>
}

export interface ResolvedLimits {
  readonly limits: Limits
  /** What the request asked for and did not get. */
  readonly clamped: readonly LimitName[]
}

export function resolveLimits(asked: Partial<Limits>, { defaults, ceilings }: LimitRules): ResolvedLimits {
  const wanted: Limits = { ...defaultLimits, ...present(defaults), ...present(asked) }
  const names = Object.keys(defaultLimits) as LimitName[]
  const capped = Object.fromEntries(
    names.map((name) => [name, lower(wanted[name], ceilings[name])]),
  ) as unknown as Limits
  // Files in memory outlive the processes that wrote them, so a full disk must leave memory to run in.
  const diskBytes = Math.min(capped.diskBytes, Math.floor(capped.memoryBytes / 2))
  const limits = { ...capped, diskBytes }
  return {
    limits,
    clamped: names.filter((name) => asked[name] !== undefined && limits[name] !== asked[name]),
  }
}

/** A key that is there without a value asks for nothing; it must not hide a default. */
function present(limits: Partial<Limits>): Partial<Limits> {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
}

/** `null` means without a bound, which every ceiling is below. */
function lower(value: number | null, ceiling: number | null | undefined): number | null {
  if (ceiling === undefined || ceiling === null) return value
  return value === null ? ceiling : Math.min(value, ceiling)
}
