/**
 * The writing half of `values.ts`. It runs inside the guest process, after guest code: no getter, proxy or patched
 * built-in may make it throw or call anything but what the value itself holds, and its work is bounded by `maxBytes`.
 */
import { isMap, isSet } from './built-in-kinds.ts'
import {
  encodeInteger,
  encodeDateOrPattern,
  encodeNumber,
  encodePrimitiveObject,
  encodeUnserializable,
} from './encode-leaf.ts'
import { JsonText, tooLarge } from './json-text.ts'
import { bytesLength, jsonString, messageOf, uncurryThis, utf8 } from './primordials.ts'
import {
  type Binary,
  functionText,
  hasField,
  handleText,
  isError,
  isList,
  isPlain,
  readBinary,
  readKeys,
  readProperty,
  textOr,
  Unreadable,
} from './read-value.ts'

/** Levels of values inside values that cross; deeper ones become `Unserializable`. */
export const depthMax = 1000
const bytesMaxDefault = 16 * 1024 * 1024

export interface EncodeOptions {
  /** The encoded JSON may not be longer; a longer value is replaced as a whole. Default 16 MiB. */
  readonly maxBytes?: number
  /** What is written instead of a value; `key` is what it stands under. */
  readonly replace?: Replace
}

type Replace = (value: unknown, key: string | number) => unknown

export interface EncodedJson {
  readonly json: string
  /** Whether something was left out: the whole value for its size, or a part for its depth. */
  readonly truncated: boolean
}

/** Encodes `value` as JSON text in the tagged format of `values.ts`. Never throws. */
export function encodeValueToJson(value: unknown, options: EncodeOptions = {}): EncodedJson {
  const maxBytes = options.maxBytes ?? bytesMaxDefault
  const text = new JsonText(maxBytes)
  const { replace } = options
  const encoding = new Encoding(text, replace)
  try {
    encoding.write(replace === undefined ? value : replace(value, ''), {
      parent: undefined,
      step: '',
      depth: 0,
    })
    const json = text.whole
    // No character takes more than three bytes for each of its UTF-16 units.
    if (json.length * 3 <= maxBytes || bytesLength(utf8(json)) <= maxBytes)
      return { json, truncated: encoding.isCut }
  } catch (thrown) {
    if (thrown !== tooLarge)
      return { json: encodeUnserializable(`[cannot be encoded: ${messageOf(thrown)}]`), truncated: true }
  }
  return { json: encodeUnserializable(`[larger than ${maxBytes} bytes]`), truncated: true }
}

/** Where a value stands: the steps back to the root of the encoded document, and its level of values. */
interface Place {
  readonly parent: Place | undefined
  readonly step: string | number
  readonly depth: number
}

const SeenMap = Map<object, Place>
const seenGet = uncurryThis(SeenMap.prototype.get)
const seenSet = uncurryThis(SeenMap.prototype.set)
const mapForEach = uncurryThis(Map.prototype.forEach)
const setForEach = uncurryThis(Set.prototype.forEach)
const symbolText = uncurryThis(Symbol.prototype.toString)
// Native, unlike Buffer's toString, which looks this method up again on the prototype that guest code can patch.
const base64Slice = uncurryThis(
  Reflect.get(Buffer.prototype, 'base64Slice') as (start: number, end: number) => string,
)

class Encoding {
  isCut = false
  readonly #text: JsonText
  readonly #seen = new SeenMap()
  readonly #replace: Replace | undefined

  constructor(text: JsonText, replace: Replace | undefined) {
    this.#text = text
    this.#replace = replace
  }

  write(value: unknown, place: Place): void {
    switch (typeof value) {
      case 'string':
        return this.#text.putString(value)
      case 'number':
        return this.#put(encodeNumber(value))
      case 'boolean':
        return this.#put(value ? 'true' : 'false')
      case 'undefined':
        return this.#put('{"$type":"undefined"}')
      case 'bigint':
        return this.#put(encodeInteger(value))
      case 'symbol':
        return this.#put(encodeUnserializable(symbolText(value)))
      case 'function':
        return this.#put(encodeUnserializable(functionText(value)))
      case 'object':
        return value === null ? this.#put('null') : this.#object(value, place)
    }
  }

  #put(piece: string): void {
    this.#text.put(piece)
  }

  #object(value: object, place: Place): void {
    const first = seenGet(this.#seen, value)
    if (first !== undefined) return this.#put(`{"$type":"Ref","path":[${pathText(first)}]}`)
    const isArray = isList(value)
    const isContainer = isArray || isPlain(value)
    if (!isContainer) {
      const primitive = encodePrimitiveObject(value)
      if (primitive !== undefined) return this.#put(primitive)
    }
    seenSet(this.#seen, value, place)
    if (!isContainer && this.#leaf(value)) return
    if (place.depth > depthMax) {
      this.isCut = true
      this.#put(encodeUnserializable('[nested too deeply]'))
    } else if (isArray) this.#array(value, place)
    else if (isContainer) this.#fields(value, place)
    else if (isMap(value)) this.#map(value, place)
    else if (isSet(value)) this.#set(value, place)
    else if (isError(value)) this.#error(value, place)
    else this.#fields(value, place)
  }

  /** Writes an object without anything inside it that is an object; answers whether it is one. */
  #leaf(value: object): boolean {
    const text = encodeDateOrPattern(value)
    if (text !== undefined) this.#put(text)
    const binary = text === undefined ? readBinary(value) : undefined
    if (binary !== undefined) this.#binary(binary)
    return text !== undefined || binary !== undefined
  }

  #array(value: readonly unknown[], place: Place): void {
    const length = readProperty(value, 'length')
    if (typeof length !== 'number') return this.#put(encodeUnserializable('[array without a length]'))
    this.#put('[')
    for (let index = 0; index < length; index++) {
      if (index > 0) this.#put(',')
      const item = readProperty(value, index)
      if (item === undefined && !hasField(value, index)) this.#put('{"$type":"hole"}')
      else this.#child(item, place, index)
    }
    this.#put(']')
  }

  /** A plain object, or an instance of a class as one. */
  #fields(value: object, place: Place): void {
    const keys = readKeys(value)
    if (Unreadable.is(keys)) return this.#put(encodeUnserializable(`[keys threw: ${keys.message}]`))
    if (keys.length === 0) {
      const text = isPlain(value) ? undefined : handleText(value)
      return this.#put(text === undefined ? '{}' : encodeUnserializable(text))
    }
    if (!hasTag(keys)) return this.#entries(value, keys, place)
    this.#put('{"$type":"Object","value":')
    this.#entries(value, keys, below(place, 'value'))
    this.#put('}')
  }

  #entries(value: object, keys: readonly string[], place: Place): void {
    this.#put('{')
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      this.#text.putKey(key, index === 0 ? '' : ',')
      this.#child(readProperty(value, key), place, key)
    }
    this.#put('}')
  }

  #child(found: unknown, parent: Place, step: string | number): void {
    const value = this.#replace === undefined ? found : this.#replace(found, step)
    if (typeof value !== 'object' || value === null) return this.write(value, parent)
    if (Unreadable.is(value)) return this.#put(encodeUnserializable(`[getter threw: ${value.message}]`))
    this.#object(value, { parent, step, depth: parent.depth + 1 })
  }

  #map(value: ReadonlyMap<unknown, unknown>, place: Place): void {
    const entries = below(place, 'value')
    let index = 0
    this.#put('{"$type":"Map","value":[')
    mapForEach(value, (item, key) => {
      const entry = below(entries, index)
      this.#put(index === 0 ? '[' : ',[')
      this.#child(key, entry, 0)
      this.#put(',')
      this.#child(item, entry, 1)
      this.#put(']')
      index++
    })
    this.#put(']}')
  }

  #set(value: ReadonlySet<unknown>, place: Place): void {
    const items = below(place, 'value')
    let index = 0
    this.#put('{"$type":"Set","value":[')
    setForEach(value, (item) => {
      if (index > 0) this.#put(',')
      this.#child(item, items, index)
      index++
    })
    this.#put(']}')
  }

  #error(value: Error, place: Place): void {
    this.#put(`{"$type":"Error","name":`)
    this.#text.putString(textOr(readProperty(value, 'name'), 'Error'))
    this.#put(',"message":')
    this.#text.putString(textOr(readProperty(value, 'message'), ''))
    const stack = readProperty(value, 'stack')
    if (typeof stack === 'string') {
      this.#put(',"stack":')
      this.#text.putString(stack)
    }
    if (hasField(value, 'cause')) this.#member('cause', readProperty(value, 'cause'), place)
    const errors = hasField(value, 'errors') ? readProperty(value, 'errors') : undefined
    if (typeof errors === 'object' && errors !== null && isList(errors)) this.#member('errors', errors, place)
    this.#errorFields(value, below(place, 'properties'))
    this.#put('}')
  }

  #member(name: string, value: unknown, place: Place): void {
    this.#put(`,"${name}":`)
    this.#child(value, place, name)
  }

  #errorFields(value: Error, place: Place): void {
    const keys = readKeys(value)
    if (Unreadable.is(keys)) return
    let count = 0
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      if (isErrorField(key)) continue
      this.#text.putKey(key, count++ === 0 ? ',"properties":{' : ',')
      this.#child(readProperty(value, key), place, key)
    }
    if (count > 0) this.#put('}')
  }

  #binary({ name, bytes }: Binary): void {
    const length = bytesLength(bytes)
    // Four characters for every three bytes.
    this.#text.requireRoom((length / 3) * 4)
    this.#put(`{"$type":"${name}","value":"${base64Slice(bytes, 0, length)}"}`)
  }
}

const below = (parent: Place, step: string | number): Place => ({ parent, step, depth: parent.depth })

function pathText(place: Place): string {
  let text = ''
  for (let at = place; at.parent !== undefined; at = at.parent) {
    const step = typeof at.step === 'number' ? `${at.step}` : jsonString(at.step)
    text = text === '' ? step : `${step},${text}`
  }
  return text
}

function hasTag(keys: readonly string[]): boolean {
  for (let index = 0; index < keys.length; index++) if (keys[index] === '$type') return true
  return false
}

/** Fields that have a place of their own, and those that engines add to every error. */
function isErrorField(key: string): boolean {
  switch (key) {
    case 'name':
    case 'message':
    case 'stack':
    case 'cause':
    case 'errors':
      return true
    default:
      return false
  }
}
