/**
 * Converts a value, such as `output`, to plain JSON. Dates, collections, big integers, patterns, errors and bytes have a
 * notation. Other values and cycles are errors that name the path. Like the encoder in core/, this runs after guest code and
 * does not trust the values.
 */
import { isDate, isMap, isRegExp, isSet } from '../../../core/values/built-in-kinds.ts'
import { integerText } from '../../../core/values/encode-leaf.ts'
import { JsonText, tooLarge } from '../../../core/values/json-text.ts'
import { bytesLength, isFiniteNumber, jsonString, uncurryThis } from '../../../core/primordials.ts'
import {
  isError,
  isList,
  readBinary,
  readKeys,
  readProperty,
  unboxed,
  Unreadable,
} from '../../../core/values/read-value.ts'
import { errorText } from '../../javascript/bare/shown.ts'
import { applyToJson } from '../../javascript/bare/to-json.ts'
import { Unserializable } from '../../../core/values/encode-leaf.ts'

/** JSON.parse and most readers cannot handle much more. */
const depthMax = 1000
const namedKey = /^[A-Za-z_$][\w$]*$/
const testPattern = uncurryThis(RegExp.prototype.exec)

const mapForEach = uncurryThis(Map.prototype.forEach)
const setForEach = uncurryThis(Set.prototype.forEach)
const dateText = uncurryThis(Date.prototype.toISOString)
const dateTime = uncurryThis(Date.prototype.getTime)
const patternText = uncurryThis(RegExp.prototype.toString)
const PlaceMap = Map<object, Place>
const placeGet = uncurryThis(PlaceMap.prototype.get)
const placeSet = uncurryThis(PlaceMap.prototype.set)
const placeDelete = uncurryThis(PlaceMap.prototype.delete)

/** The path of a value from the root. */
interface Place {
  readonly parent: Place | undefined
  readonly step: string | number
  readonly depth: number
}

/** The error for a part of a value that JSON cannot represent. */
export class NotPlain {
  readonly #isOurs = true
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
  static is(thrown: unknown): thrown is NotPlain {
    return typeof thrown === 'object' && thrown !== null && #isOurs in thrown && thrown.#isOurs
  }
}

/** Returns `undefined` for `undefined`; throws a `NotPlain`. `root` is the name of the value in messages. */
export function toPlainJson(value: unknown, root: string, bytesMax: number): string | undefined {
  const text = new JsonText(bytesMax)
  try {
    const isWritten = new Writer(text).write(value, { parent: undefined, step: root, depth: 0 })
    return isWritten ? text.whole : undefined
  } catch (thrown) {
    if (thrown === tooLarge) throw new NotPlain(`${root} is larger than ${bytesMax} bytes`)
    throw thrown
  }
}

class Writer {
  readonly #text: JsonText
  readonly #ancestors = new PlaceMap()

  constructor(text: JsonText) {
    this.#text = text
  }

  /** Returns whether anything was written; `undefined` writes nothing. */
  write(found: unknown, place: Place): boolean {
    const value = applyToJson(found, place.step)
    switch (typeof value) {
      case 'undefined':
        return false
      case 'string':
        this.#text.putString(value)
        break
      case 'number':
        this.#text.put(isFiniteNumber(value) ? `${value}` : 'null')
        break
      case 'boolean':
        this.#text.put(value ? 'true' : 'false')
        break
      case 'bigint':
        this.#text.put(`"${integerText(value)}"`)
        break
      case 'function':
      case 'symbol':
        throw new NotPlain(`${pathText(place)} is a ${typeof value}`)
      case 'object':
        if (value === null) this.#text.put('null')
        else this.#object(value, place)
    }
    return true
  }

  #object(value: object, place: Place): void {
    if (Unreadable.is(value)) throw new NotPlain(`${pathText(place)} cannot be read: ${value.message}`)
    if (Unserializable.is(value)) throw new NotPlain(`${pathText(place)} cannot be read: ${value.text}`)
    if (isDate(value))
      return this.#text.put(isFiniteNumber(dateTime(value)) ? `"${dateText(value)}"` : 'null')
    if (isRegExp(value)) return this.#text.putString(patternOf(value, place))
    if (isError(value)) return this.#text.putString(errorText(value))
    const primitive = unboxed(value)
    if (primitive !== undefined) return void this.write(primitive, place)
    const above = placeGet(this.#ancestors, value)
    if (above !== undefined) throw new NotPlain(`${pathText(place)} refers back to ${pathText(above)}`)
    if (place.depth >= depthMax)
      throw new NotPlain(`${rootOf(place)} is nested more than ${depthMax} levels deep`)
    placeSet(this.#ancestors, value, place)
    this.#container(value, place)
    placeDelete(this.#ancestors, value)
  }

  #container(value: object, place: Place): void {
    if (isList(value)) return this.#list(value, place)
    if (isMap(value)) return this.#map(value, place)
    if (isSet(value)) return this.#set(value, place)
    const binary = readBinary(value)
    if (binary === undefined) return this.#fields(value, place)
    const isIndexed = binary.name !== 'ArrayBuffer' && binary.name !== 'DataView'
    this.#list(isIndexed ? (value as ArrayLike<unknown>) : binary.bytes, place, bytesLength(binary.bytes))
  }

  #list(value: ArrayLike<unknown>, place: Place, lengthMax?: number): void {
    const length = readProperty(value, 'length')
    if (typeof length !== 'number') throw new NotPlain(`${pathText(place)} is a list without a length`)
    const count = lengthMax !== undefined && length > lengthMax ? lengthMax : length
    // Each item takes at least two characters.
    this.#text.requireRoom(count * 2)
    this.#text.put('[')
    for (let index = 0; index < count; index++) {
      if (index > 0) this.#text.put(',')
      this.#item(readProperty(value, index), place, index)
    }
    this.#text.put(']')
  }

  #item(value: unknown, parent: Place, step: string | number): void {
    if (!this.write(value, { parent, step, depth: parent.depth + 1 })) this.#text.put('null')
  }

  #map(value: ReadonlyMap<unknown, unknown>, place: Place): void {
    let index = 0
    this.#text.put('[')
    mapForEach(value, (item, key) => {
      const entry = { parent: place, step: index, depth: place.depth + 1 }
      this.#text.put(index++ === 0 ? '[' : ',[')
      this.#item(key, entry, 0)
      this.#text.put(',')
      this.#item(item, entry, 1)
      this.#text.put(']')
    })
    this.#text.put(']')
  }

  #set(value: ReadonlySet<unknown>, place: Place): void {
    let index = 0
    this.#text.put('[')
    setForEach(value, (item) => {
      if (index > 0) this.#text.put(',')
      this.#item(item, place, index++)
    })
    this.#text.put(']')
  }

  #fields(value: object, place: Place): void {
    const keys = readKeys(value)
    if (Unreadable.is(keys)) throw new NotPlain(`${pathText(place)} cannot be read: ${keys.message}`)
    let separator = '{'
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      const inside: Place = { parent: place, step: key, depth: place.depth + 1 }
      const field = applyToJson(readProperty(value, key), key)
      if (field === undefined) continue
      this.#text.putKey(key, separator)
      separator = ','
      this.#writeReady(field, inside)
    }
    this.#text.put(separator === '{' ? '{}' : '}')
  }

  /** Writes a value to which `toJSON` has already been applied, because it must be called only once. */
  #writeReady(value: unknown, place: Place): void {
    if (typeof value === 'object' && value !== null) this.#object(value, place)
    else this.write(value, place)
  }
}

function patternOf(value: RegExp, place: Place): string {
  try {
    return patternText(value)
  } catch {
    throw new NotPlain(`${pathText(place)} cannot be read`)
  }
}

function rootOf(place: Place): string {
  let at = place
  while (at.parent !== undefined) at = at.parent
  return `${at.step}`
}

/** `output.rows[3]["a key"]` */
function pathText(place: Place): string {
  let text = ''
  for (let at: Place | undefined = place; at !== undefined; at = at.parent) {
    const { step } = at
    if (at.parent === undefined) text = `${step}${text}`
    else if (typeof step === 'number') text = `[${step}]${text}`
    else text = testPattern(namedKey, step) === null ? `[${jsonString(step)}]${text}` : `.${step}${text}`
  }
  return text
}
