/**
 * How a configuration that anybody may have written can change an option: it can only narrow it. Otherwise a cloned
 * repository, or a guest that writes to a folder, could choose programs for the host and weaken the isolation. Pure.
 */
import { defaultLimits, type LimitName, type Limits } from '../core/limits.ts'
import { isAtLeast, type ProtectionLevel } from '../core/protection.ts'

export interface Narrowing<Value> {
  /** What a value may ask for, in words. */
  readonly allowed: string
  /** Describes what a value asks for beyond the present one. Empty if it only narrows. */
  readonly findWidening: (name: string, wish: Value, current: Value | undefined) => readonly string[]
  /** The narrower of both, for a value that widens nothing. Undefined leaves the option unset. */
  readonly narrow: (wish: Value, current: Value | undefined) => Value | undefined
}

/** `usual` applies if no level is named. */
export function higherLevel(usual: ProtectionLevel): Narrowing<ProtectionLevel> {
  return {
    allowed: 'only a higher level',
    findWidening: (name, wish, current = usual) =>
      isAtLeast(wish, current) ? [] : [`\`${name}\` ${wish} (${current} is in force)`],
    // Only if it changes something, because a named level silences the warning about a weak wall.
    narrow: (wish, current) => (isAtLeast(current ?? usual, wish) ? current : wish),
  }
}

type Bounds = Partial<Limits>
const limitNames = Object.keys(defaultLimits) as LimitName[]

/** `usual` applies to limits that are not named. */
export function lowerLimits(usual: Bounds): Narrowing<Bounds> {
  return {
    allowed: 'only lower limits',
    findWidening(name, wish, current) {
      const bounds = { ...usual, ...current }
      return limitNames
        .filter((limit) => isAbove(wish[limit], bounds[limit]))
        .map((limit) => `\`${name}.${limit}\` ${wish[limit] ?? 'null'} (${bounds[limit]} is in force)`)
    },
    narrow(wish, current = {}) {
      const changes = limitNames.filter(
        (limit) => wish[limit] !== undefined && wish[limit] !== null && !isAbove(wish[limit], current[limit]),
      )
      return { ...current, ...Object.fromEntries(changes.map((limit) => [limit, wish[limit]])) }
    },
  }
}

/** `null` means no limit, and so does an absent value. */
function isAbove(wish: number | null | undefined, current: number | null | undefined): boolean {
  if (wish === undefined || current === undefined || current === null) return false
  return wish === null || wish > current
}
