/** Applies a value's own `toJSON` as `JSON.stringify` does: once, with the key. */
import { Unserializable } from '../../../core/values/encode-leaf.ts'
import { apply, messageOf } from '../../../core/primordials.ts'
import { readProperty, Unreadable } from '../../../core/values/read-value.ts'

// Dates have their own encoding, which keeps their type.
const dateToJson = Date.prototype.toJSON

export function applyToJson(value: unknown, key: string | number): unknown {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return value
  if (Unreadable.is(value)) return value
  const toJson = readProperty(value, 'toJSON')
  if (typeof toJson !== 'function' || toJson === dateToJson) return value
  try {
    return apply(toJson, value, [`${key}`])
  } catch (thrown) {
    return new Unserializable(`[toJSON threw: ${messageOf(thrown)}]`)
  }
}
