/**
 * Remembers the keys of large objects that were read from JSON, because listing a hundred thousand keys blocks the
 * engine for tens of milliseconds.
 */
const known = new WeakMap<object, readonly string[]>()

/** Listing the keys of smaller objects takes no measurable time. */
export const knownKeysMin = 4096

export function rememberKeys(object: object, keys: readonly string[]): void {
  known.set(object, keys)
}

/** Own keys of an object that was read from JSON. */
export function keysOf(object: object): readonly string[] {
  return known.get(object) ?? Object.keys(object)
}
