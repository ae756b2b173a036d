/**
 * The walk through a value that is being encoded: what is written for it and in which order. Nothing here recurses over
 * the value, so the walk can stop anywhere. It runs after guest code: see encode-value.ts.
 */
import { toBase64 } from './base64.ts'
import { isMap, isSet } from './built-in-kinds.ts'
import {
  encodeDateOrPattern,
  encodeInteger,
  encodeNumber,
  encodePrimitiveObject,
  encodeUnserializable,
} from './encode-leaf.ts'
import {
  ArrayMembers,
  below,
  ErrorMembers,
  FieldsMembers,
  MapMembers,
  type Members,
  type Place,
  SetMembers,
} from './encode-members.ts'
import { longTextLength, TextMembers } from './encode-text.ts'
import { type JsonText, tooLarge } from './json-text.ts'
import { bytesLength, jsonString, uncurryThis } from '../primordials.ts'
import {
  type Binary,
  functionText,
  handleText,
  isError,
  isList,
  isPlain,
  readBinary,
  readKeys,
  readProperty,
  Unreadable,
} from './read-value.ts'
import { SeenObjects } from './seen-objects.ts'
import { depthMax } from './value-depth.ts'

/** Returns what is written instead of a value; `key` is the key or index of the value. */
export type Replace = (value: unknown, key: string | number) => unknown

/**
 * A container whose members up to `next` are written. Linked, because guest code can patch the prototype of arrays.
 */
interface Frame {
  readonly parent: Frame | undefined
  readonly members: Members
  next: number
}

const symbolText = uncurryThis(Symbol.prototype.toString)
// Native, unlike Buffer's toString, which looks this method up again on the prototype that guest code can patch. Where
// there is no Buffer there is no guest either.
const base64Slice =
  typeof Buffer === 'undefined'
    ? toBase64
    : uncurryThis(Reflect.get(Buffer.prototype, 'base64Slice') as (start: number, end: number) => string)

export class Encoding {
  isCut = false
  readonly text: JsonText
  readonly #seen = new SeenObjects<Place>()
  #objectsLeft: number
  readonly #replace: Replace | undefined
  #top: Frame | undefined

  constructor(text: JsonText, objectsMax: number, replace: Replace | undefined) {
    this.text = text
    this.#objectsLeft = objectsMax
    this.#replace = replace
  }

  begin(root: unknown): void {
    const value = this.#replace === undefined ? root : this.#replace(root, '')
    this.#write(value, { parent: undefined, step: '', depth: 0 })
  }

  /** Returns whether everything is written. */
  advance(steps: number): boolean {
    for (let step = 0; step < steps; step++) {
      const frame = this.#top
      if (frame === undefined) return true
      const { members, next } = frame
      // A proxy may report a negative length, or one that is not a number.
      if (next < members.count) {
        frame.next = next + 1
        members.write(next, this)
      } else {
        this.#put(members.close)
        this.#top = frame.parent
      }
    }
    return this.#top === undefined
  }

  /** Writes one member of a container. */
  child(found: unknown, parent: Place, step: string | number): void {
    const value = this.#replace === undefined ? found : this.#replace(found, step)
    if (typeof value !== 'object' || value === null) return this.#write(value, parent)
    if (Unreadable.is(value)) return this.#put(encodeUnserializable(`[getter threw: ${value.message}]`))
    this.#object(value, { parent, step, depth: parent.depth + 1 })
  }

  #write(value: unknown, place: Place): void {
    switch (typeof value) {
      case 'string':
        return this.#string(value)
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
    this.text.put(piece)
  }

  #object(value: object, place: Place): void {
    const first = this.#seen.get(value)
    if (first !== undefined) return this.#put(`{"$type":"Ref","path":[${pathText(first)}]}`)
    const isArray = isList(value)
    const isContainer = isArray || isPlain(value)
    if (!isContainer) {
      const primitive = encodePrimitiveObject(value)
      if (primitive !== undefined) return this.#put(primitive)
    }
    if (--this.#objectsLeft < 0) throw tooLarge
    this.#seen.set(value, place)
    if (!isContainer && this.#leaf(value)) return
    if (place.depth > depthMax) {
      this.isCut = true
      this.#put(encodeUnserializable('[nested too deeply]'))
    } else if (isArray) this.#array(value, place)
    else if (isContainer) this.#fields(value, place)
    else if (isMap(value)) this.#open('{"$type":"Map","value":[', new MapMembers(value, place, this.text))
    else if (isSet(value)) this.#open('{"$type":"Set","value":[', new SetMembers(value, place, this.text))
    else if (isError(value)) this.#error(value, place)
    else this.#fields(value, place)
  }

  #string(value: string): void {
    if (value.length < longTextLength) return this.text.putString(value)
    this.text.requireRoom(value.length)
    this.#open('"', new TextMembers(value))
  }

  #open(start: string, members: Members): void {
    this.#put(start)
    this.#top = { parent: this.#top, members, next: 0 }
  }

  /** Writes an object that contains no other object. Returns whether it is one. */
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
    this.#open('[', new ArrayMembers(value, length, place))
  }

  /** A plain object, or an instance of a class as one. */
  #fields(value: object, place: Place): void {
    const keys = readKeys(value)
    if (Unreadable.is(keys)) return this.#put(encodeUnserializable(`[keys threw: ${keys.message}]`))
    if (keys.length === 0) {
      const text = isPlain(value) ? undefined : handleText(value)
      return this.#put(text === undefined ? '{}' : encodeUnserializable(text))
    }
    if (!hasTag(keys)) return this.#open('{', new FieldsMembers(value, keys, { place, close: '}' }))
    const inside = { place: below(place, 'value'), close: '}}' }
    this.#open('{"$type":"Object","value":{', new FieldsMembers(value, keys, inside))
  }

  #error(value: Error, place: Place): void {
    this.#put(`{"$type":"Error","name":`)
    const members = new ErrorMembers(value, place)
    this.text.putString(members.name)
    this.#put(',"message":')
    this.text.putString(members.message)
    if (members.stack !== undefined) {
      this.#put(',"stack":')
      this.text.putString(members.stack)
    }
    this.#open('', members)
  }

  #binary({ name, bytes }: Binary): void {
    const length = bytesLength(bytes)
    // Base64 has four characters for every three bytes.
    this.text.requireRoom((length / 3) * 4)
    this.#put(`{"$type":"${name}","value":"${base64Slice(bytes, 0, length)}"}`)
  }
}

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
