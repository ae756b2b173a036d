/** Fills in missing limits and lowers those above the operator's ceilings. Pure. */
import { defaultLimits } from '../core/limits.ts'
import type { Clamp, LimitName, Limits } from '../core/limits.ts'

export interface LimitRules {
  readonly defaults: Partial<Limits>
  readonly ceilings: Partial<Limits>
}

export interface ResolvedLimits {
  readonly limits: Limits
  /** Limits of the request, or else of the operator's defaults, that a ceiling lowered. */
  readonly clamped: readonly LimitName[]
}

/** `filesIn` says how much of the memory files may take. */
export function resolveLimits(
  asked: Partial<Limits>,
  { defaults, ceilings }: LimitRules,
  filesIn = halfOf,
): ResolvedLimits {
  const limits: { -readonly [Name in LimitName]: Limits[Name] } = { ...defaultLimits }
  for (const name of names) {
    // A key with an undefined value asks for nothing; it must not hide a default.
    const wanted = firstGiven(asked[name], defaults[name], defaultLimits[name])
    limits[name] = lower(wanted, ceilings[name]) as never
  }
  // Files in memory outlive the processes that wrote them, so a full disk must leave memory to run in.
  limits.diskBytes = Math.min(limits.diskBytes, filesIn(limits.memoryBytes))
  return {
    limits,
    clamped: names.filter((name) =>
      asked[name] === undefined ? isLowered(defaults[name], ceilings[name]) : limits[name] !== asked[name],
    ),
  }
}

const halfOf = (memoryBytes: number): number => Math.floor(memoryBytes / 2)

/** Which limits were lowered, from the request or from a default. `limits` is the result of `resolveLimits()`. */
export function describeClamps(
  asked: Partial<Limits>,
  { defaults, ceilings }: LimitRules,
  limits: Limits,
): Clamp[] {
  return names.flatMap((limit) => {
    const wanted = firstGiven<number | null>(asked[limit], defaults[limit], defaultLimits[limit])
    const held = limits[limit]
    if (held === wanted) return []
    const of = asked[limit] === undefined ? 'default' : 'request'
    const otherwise = limit === 'diskBytes' ? 'memory' : 'machine'
    return [{ limit, wanted, held, of, by: lower(wanted, ceilings[limit]) === held ? 'ceiling' : otherwise }]
  })
}

/** The operator's own defaults that the ceilings lower. */
export function describeLoweredDefaults({ defaults, ceilings }: LimitRules): Clamp[] {
  const { limits } = resolveLimits(defaults, { defaults: {}, ceilings })
  return describeClamps({}, { defaults, ceilings }, limits).filter(
    ({ limit }) => defaults[limit] !== undefined,
  )
}

const names = Object.keys(defaultLimits) as LimitName[]

/** `null` is a value: no bound. */
function firstGiven<Value>(asked: Value | undefined, usual: Value | undefined, last: Value): Value {
  if (asked !== undefined) return asked
  return usual === undefined ? last : usual
}

function isLowered(usual: number | null | undefined, ceiling: number | null | undefined): boolean {
  return usual !== undefined && lower(usual, ceiling) !== usual
}

/** `null` means no bound, so every ceiling is lower. */
function lower(value: number | null, ceiling: number | null | undefined): number | null {
  if (ceiling === undefined || ceiling === null) return value
  return value === null ? ceiling : Math.min(value, ceiling)
}
