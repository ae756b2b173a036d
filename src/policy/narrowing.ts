/**
 * How a configuration that anybody may have written can change an option: to less. Everything else would let a clone of a
 * repository, or a guest that writes to a folder, choose programs for the host and take walls away. Pure.
 */
import { defaultLimits, type LimitName, type Limits } from '../core/limits.ts'
import { isAtLeast, type ProtectionLevel } from '../core/protection.ts'

export interface Narrowing<Value> {
  /** What a wish may ask for, in words. */
  readonly allowed: string
  /** In words, what a wish asks for beyond what stands without it. Empty when it only narrows. */
  readonly findWidening: (name: string, wish: Value, standing: Value | undefined) => readonly string[]
  /** The narrower of both. For a wish that widens nothing; undefined leaves the option unsaid. */
  readonly narrow: (wish: Value, standing: Value | undefined) => Value | undefined
}

/** `usual` stands where no level is named. */
export function higherLevel(usual: ProtectionLevel): Narrowing<ProtectionLevel> {
  return {
    allowed: 'only a higher level',
    findWidening: (name, wish, standing = usual) =>
      isAtLeast(wish, standing) ? [] : [`\`${name}\` ${wish} (${standing} stands)`],
    // Only where it changes something: a level that is named silences the warning that the wall is weak.
    narrow: (wish, standing) => (isAtLeast(standing ?? usual, wish) ? standing : wish),
  }
}

type Bounds = Partial<Limits>
const limitNames = Object.keys(defaultLimits) as LimitName[]

/** `usual` stands for the limits that are not named. */
export function lowerLimits(usual: Bounds): Narrowing<Bounds> {
  return {
    allowed: 'only lower limits',
    findWidening(name, wish, standing) {
      const bounds = { ...usual, ...standing }
      return limitNames
        .filter((limit) => isAbove(wish[limit], bounds[limit]))
        .map((limit) => `\`${name}.${limit}\` ${wish[limit] ?? 'null'} (${bounds[limit]} stands)`)
    },
    narrow(wish, standing = {}) {
      const changes = limitNames.filter(
        (limit) =>
          wish[limit] !== undefined && wish[limit] !== null && !isAbove(wish[limit], standing[limit]),
      )
      return { ...standing, ...Object.fromEntries(changes.map((limit) => [limit, wish[limit]])) }
    },
  }
}

/** `null` is no limit, and so is none at all. */
function isAbove(wish: number | null | undefined, standing: number | null | undefined): boolean {
  if (wish === undefined || standing === undefined || standing === null) return false
  return wish === null || wish > standing
}
