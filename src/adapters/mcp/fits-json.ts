/** Whether a value's JSON is at most this long. Pure. */

/** A text that is far too long is not serialized: escaping sixteen megabytes blocks the event loop for 200 ms. */
export function fitsJson(value: unknown, lengthMax: number): boolean {
  return lengthLeft(value, lengthMax) >= 0 && JSON.stringify(value).length <= lengthMax
}

/** A lower bound of the length, subtracted from the maximum: each text at its own length, other values at 1. Stops below 0. */
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
