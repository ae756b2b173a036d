/**
 * The keys of large objects that were read from JSON, as their reader saw them: listing the keys of an object with a
 * hundred thousand takes the engine tens of milliseconds, in one piece.
 */
const known = new WeakMap<object, readonly string[]>()

/** Smaller objects are listed in no time. */
export const knownKeysMin = 4096

export function rememberKeys(object: object, keys: readonly string[]): void {
  known.set(object, keys)
}

/** Own keys of an object that was read from JSON. */
export function keysOf(object: object): readonly string[] {
  return known.get(object) ?? Object.keys(object)
}
