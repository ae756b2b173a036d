/** Whether a value's JSON is at most this long. Pure. */

/** What is far too long is not written: escapes for sixteen megabytes take the event loop a fifth of a second. */
export function fitsJson(value: unknown, lengthMax: number): boolean {
  return lengthLeft(value, lengthMax) >= 0 && JSON.stringify(value).length <= lengthMax
}

/** What is left when each text has its own length and each value one character; it has more. Below zero, no further. */
function lengthLeft(value: unknown, lengthMax: number): number {
  if (typeof value === 'string') return lengthMax - value.length
  let left = lengthMax - 1
  if (typeof value !== 'object' || value === null) return left
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && left >= 0; index++) left = lengthLeft(value[index], left)
    return left
  }
  for (const key in value) {
    left = lengthLeft((value as Record<string, unknown>)[key], left - key.length)
    if (left < 0) return left
  }
  return left
}
