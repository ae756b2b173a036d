/**
 * How values cross between host and guest: JSON plus tags. docs/guide/values.md describes the format, under "The tags";
 * every language follows it.
 */
import { type Decoded, decodeSteps } from './decode-value.ts'
import { encodeValueToJson, type EncodeOptions } from './encode-value.ts'
import { runSteps } from '../steps.ts'

/** A value in the tagged encoding: plain JSON. */
export type JsonTagged =
  | null
  | boolean
  | number
  | string
  | readonly JsonTagged[]
  | { readonly [key: string]: JsonTagged }

/** Encodes a live value. Never throws; what cannot cross becomes `Unserializable`. */
export function encodeValue(
  value: unknown,
  options: EncodeOptions = {},
): { readonly value: JsonTagged; readonly truncated: boolean } {
  const { json, truncated } = encodeValueToJson(value, options)
  return { value: JSON.parse(json) as JsonTagged, truncated }
}

/**
 * Turns the tagged encoding (as `JSON.parse` gives it) into live values. The input may be hostile: this never throws,
 * never sets a prototype, and its memory is proportional to the size of the input. So is its time, except for
 * collections of numbers that were chosen to collide in the engine: to bound that time, use `decodeSteps`.
 */
export function decodeValue(tagged: unknown): unknown {
  return decodeUntrusted(tagged).value
}

/** The same, with whether a part was left out. */
export function decodeUntrusted(tagged: unknown): Decoded {
  return runSteps(decodeSteps(tagged))
}
