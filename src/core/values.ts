/**
 * How values cross between host and guest: JSON plus tags. This page is the format; every language follows it.
 *
 * `null`, booleans, strings, finite numbers, arrays and objects with string keys are themselves. Everything else is an
 * object whose `$type` names it (its *tag*). Bytes are base64 (RFC 4648, padded).
 *
 *     {"$type":"undefined"}  {"$type":"hole"}           `hole`: a missing element of a sparse array
 *     {"$type":"NaN"}  {"$type":"Infinity"}  {"$type":"-Infinity"}  {"$type":"-0"}
 *     {"$type":"BigInt","value":"-12"}                  decimal, or from 4,000 digits on hexadecimal: "-0xff"
 *     {"$type":"Date","value":"2026-01-31T00:00:00.000Z"}          an invalid date: "value": null
 *     {"$type":"RegExp","source":"a+","flags":"gi"}
 *     {"$type":"Map","value":[[key, value], …]}         Python: a dict whose keys are not all strings
 *     {"$type":"Set","value":[item, …]}
 *     {"$type":"Error","name":"TypeError","message":"…","stack":"…","cause":…,"errors":[…],"properties":{…}}
 *                                                       `name` and `message` always, the rest only where it exists;
 *                                                       `properties`: own enumerable fields (a plain object of values,
 *                                                       whose own `$type` key needs no escape)
 *     {"$type":"ArrayBuffer","value":"base64"}  {"$type":"DataView",…}  {"$type":"Uint8Array",…}  Int8Array
 *     Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array Float16Array Float32Array Float64Array
 *     BigInt64Array BigUint64Array                      all the same shape; elements little-endian
 *     {"$type":"Ref","path":["a",0,"value",1]}          the object already seen at that path: cycles and sharing
 *     {"$type":"Unserializable","text":"[Function: f]"} cannot cross; how it looks to a person
 *     {"$type":"Object","value":{"$type":"mine", …}}    the escape: a plain object with an own key `$type`;
 *                                                       keys inside are literal, the values in it are encoded as usual
 *
 * Python's own: {"$type":"tuple","value":[…]}  {"$type":"set","value":[…]}  {"$type":"frozenset","value":[…]}
 *     {"$type":"bytes","value":"base64"}  {"$type":"bytearray","value":"base64"}
 *     {"$type":"datetime","value":"2026-01-31T12:00:00.123456+00:00"} (isoformat; without an offset it is UTC)
 *     {"$type":"date","value":"2026-01-31"}  {"$type":"time","value":"12:00:00"}
 *     {"$type":"timedelta","value":1.5} (total seconds)
 *     {"$type":"Decimal","value":"1.10"}  {"$type":"complex","real":1,"imag":-1} (real and imag encoded as values)
 *
 * A JSON number is what JavaScript calls one; Python reads an integer of 2^53 or more as a float, as BigInt is for exact
 * ones.
 *
 * A `Ref` path walks the *encoded document* from its root, as a JSON Pointer would, in raw keys and indexes: the `value`
 * of a tag is a step too. It names an array or object that begins before the Ref in document order (an ancestor, for a
 * cycle). Everything that can be told apart is written once: dates, patterns and bytes too. Strings, numbers and what
 * Python cannot change (its own bytes, moments, Decimal, complex) are not. Live forms in JavaScript: tuple → array, set
 * and frozenset → Set, bytes and bytearray → Uint8Array, datetime → Date, complex → { real, imag }, timedelta → seconds,
 * date, time and Decimal → string, Unserializable → an `Unserializable` object, class instances → plain objects. What
 * becomes what in each language stands in docs/values.md.
 *
 * An unknown or malformed tag is a plain object. Readers stop at `depthMax` levels of values.
 */
import { type Decoded, decodeSteps } from './decode-value.ts'
import { encodeValueToJson, type EncodeOptions } from './encode-value.ts'
import { runSteps } from './steps.ts'

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
 * never sets a prototype, and its memory is proportional to the size of the input. So is its time, but for collections of
 * numbers that were chosen to collide in the engine: whoever decodes those does it in `decodeSteps`, and stops.
 */
export function decodeValue(tagged: unknown): unknown {
  return decodeUntrusted(tagged).value
}

/** The same, and whether something of it was left out. */
export function decodeUntrusted(tagged: unknown): Decoded {
  return runSteps(decodeSteps(tagged))
}
