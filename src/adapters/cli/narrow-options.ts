/**
 * What a configuration file may do that was found on the way, whoever brought it there: narrow. Everything else would let
 * a clone of a repository, or a guest that writes to a folder, choose programs for the host and take walls away. Pure.
 */
import { defaultLimits, type LimitName, type Limits } from '../../core/limits.ts'
import { isAtLeast, type ProtectionLevel } from '../../core/protection.ts'
import type { LazaretOptions } from '../../engine/options.ts'

/** The keys that can narrow. Any other asks for too much by being there. */
const narrowing: ReadonlySet<string> = new Set(['minimumProtection', 'defaults', 'ceilings'])
const usualMinimum: ProtectionLevel = 'restricted'

/** In words, what a file asks for beyond what stands without it. Empty when it only narrows. */
export function findWidening(standing: LazaretOptions, wish: LazaretOptions): string[] {
  const keys = Object.keys(wish).filter((key) => !narrowing.has(key))
  const minimum = standing.minimumProtection ?? usualMinimum
  const lower = wish.minimumProtection !== undefined && !isAtLeast(wish.minimumProtection, minimum)
  return [
    ...keys.map((key) => `\`${key}\``),
    ...(lower ? [`\`minimumProtection\` ${wish.minimumProtection} (${minimum} stands)`] : []),
    ...findHigher('defaults', wish.defaults, { ...defaultLimits, ...standing.defaults }),
    ...findHigher('ceilings', wish.ceilings, standing.ceilings ?? {}),
  ]
}

/** Both at once: of everything the narrower. For a wish that widens nothing. */
export function narrow(standing: LazaretOptions, wish: LazaretOptions): LazaretOptions {
  const { minimumProtection: minimum = usualMinimum, defaults, ceilings } = wish
  const isHigher = !isAtLeast(standing.minimumProtection ?? usualMinimum, minimum)
  return {
    ...standing,
    // Only where it changes something: a level that is named silences the warning that the wall is weak.
    ...(isHigher && { minimumProtection: minimum }),
    ...(defaults && { defaults: lowest(standing.defaults, defaults) }),
    ...(ceilings && { ceilings: lowest(standing.ceilings, ceilings) }),
  }
}

type Bounds = Partial<Limits>
const limitNames = Object.keys(defaultLimits) as LimitName[]

function findHigher(group: string, wish: Bounds = {}, standing: Bounds): string[] {
  return limitNames
    .filter((name) => isAbove(wish[name], standing[name]))
    .map((name) => `\`${group}.${name}\` ${wish[name] ?? 'null'} (${standing[name]} stands)`)
}

function lowest(standing: Bounds = {}, wish: Bounds): Bounds {
  const changes = limitNames.filter(
    (name) => wish[name] !== undefined && wish[name] !== null && !isAbove(wish[name], standing[name]),
  )
  return { ...standing, ...Object.fromEntries(changes.map((name) => [name, wish[name]])) }
}

/** `null` is no limit, and so is none at all. */
function isAbove(wish: number | null | undefined, standing: number | null | undefined): boolean {
  if (wish === undefined || standing === undefined || standing === null) return false
  return wish === null || wish > standing
}
