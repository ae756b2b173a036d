/**
 * How the console of a bare realm prints values: strings unchanged, objects as JSON, and values that JSON lacks in a
 * readable form. Like the encoder, it runs after guest code and does not trust the values.
 */
import { isDate, isMap, isRegExp, isSet } from '../../../core/values/built-in-kinds.ts'
import { integerText } from '../../../core/values/encode-leaf.ts'
import { isFiniteNumber, jsonString, messageOf, uncurryThis } from '../../../core/primordials.ts'
import {
  functionText,
  handleText,
  isError,
  isList,
  readBinary,
  readKeys,
  readProperty,
  textOr,
  unboxed,
  Unreadable,
} from '../../../core/values/read-value.ts'
import { applyToJson } from './to-json.ts'

/** Longer texts are truncated. */
const charactersMax = 64 * 1024
const depthMax = 100

const mapForEach = uncurryThis(Map.prototype.forEach)
const setForEach = uncurryThis(Set.prototype.forEach)
const dateText = uncurryThis(Date.prototype.toISOString)
const dateTime = uncurryThis(Date.prototype.getTime)
const patternText = uncurryThis(RegExp.prototype.toString)
const symbolText = uncurryThis(Symbol.prototype.toString)
const AncestorSet = Set<object>
const ancestorHas = uncurryThis(AncestorSet.prototype.has)
const ancestorAdd = uncurryThis(AncestorSet.prototype.add)
const ancestorDelete = uncurryThis(AncestorSet.prototype.delete)
const tooLong = { message: 'too long' }

export function showAll(values: readonly unknown[]): string {
  let line = ''
  for (let index = 0; index < values.length; index++) {
    const value = values[index]
    line += `${index === 0 ? '' : ' '}${typeof value === 'string' ? value : show(value)}`
  }
  return line
}

/** Never throws. */
export function show(value: unknown): string {
  if (typeof value === 'string') return jsonString(value)
  if (typeof value === 'function') return functionText(value)
  if (typeof value !== 'object' || value === null) return primitiveText(value)
  if (isError(value)) return errorText(value)
  const text = new Shown()
  try {
    text.write(value, '', 0)
  } catch (thrown) {
    if (thrown !== tooLong) return `[cannot be shown: ${messageOf(thrown)}]`
    return `${text.text}…`
  }
  return text.text
}

/** `TypeError: …`. Parts that cannot be read are omitted. */
export function errorText(error: object): string {
  const name = textOr(readProperty(error, 'name'), 'Error')
  const message = textOr(readProperty(error, 'message'), '')
  return message === '' ? name : `${name}: ${message}`
}

function primitiveText(value: unknown): string {
  switch (typeof value) {
    case 'bigint':
      return `${integerText(value)}n`
    case 'symbol':
      return symbolText(value)
    case 'number':
      return value === 0 && 1 / value < 0 ? '-0' : `${value}`
    default:
      return `${value as string}`
  }
}

class Shown {
  text = ''
  readonly #ancestors = new AncestorSet()

  write(found: unknown, key: string, depth: number): void {
    const value = applyToJson(found, key)
    if (typeof value === 'string') this.#put(jsonString(value))
    else if (typeof value === 'number') this.#put(isFiniteNumber(value) ? `${value}` : 'null')
    else if (isLeftOut(value)) this.#put('null')
    else if (typeof value === 'object' && value !== null) this.#object(value, depth)
    else this.#put(primitiveText(value))
  }

  #put(piece: string): void {
    this.text += piece
    if (this.text.length > charactersMax) throw tooLong
  }

  #object(value: object, depth: number): void {
    if (Unreadable.is(value)) return this.#put(jsonString(`[getter threw: ${value.message}]`))
    const primitive = unboxed(value)
    if (primitive !== undefined) return this.write(primitive, '', depth)
    if (isDate(value))
      return this.#put(isFiniteNumber(dateTime(value)) ? jsonString(dateText(value)) : 'null')
    if (isRegExp(value)) return this.#put(patternText(value))
    if (isError(value)) return this.#put(jsonString(errorText(value)))
    if (ancestorHas(this.#ancestors, value)) return this.#put('"[Circular]"')
    if (depth > depthMax) return this.#put('"[nested too deeply]"')
    ancestorAdd(this.#ancestors, value)
    this.#container(value, depth + 1)
    ancestorDelete(this.#ancestors, value)
  }

  #container(value: object, depth: number): void {
    if (isList(value)) return this.#list(value, depth)
    if (isMap(value)) return this.#map(value, depth)
    if (isSet(value)) return this.#set(value, depth)
    const binary = readBinary(value)
    if (binary === undefined) return this.#fields(value, depth)
    this.#put(`${binary.name} `)
    this.#list(isIndexed(value) ? value : binary.bytes, depth)
  }

  #list(value: ArrayLike<unknown>, depth: number): void {
    const length = readProperty(value, 'length')
    this.#put('[')
    for (let index = 0; index < (typeof length === 'number' ? length : 0); index++) {
      if (index > 0) this.#put(',')
      this.write(readProperty(value, index), `${index}`, depth)
    }
    this.#put(']')
  }

  #map(value: ReadonlyMap<unknown, unknown>, depth: number): void {
    let separator = ''
    this.#put('Map {')
    mapForEach(value, (item, key) => {
      this.#put(separator)
      this.write(key, '', depth)
      this.#put(' => ')
      this.write(item, '', depth)
      separator = ', '
    })
    this.#put('}')
  }

  #set(value: ReadonlySet<unknown>, depth: number): void {
    let separator = ''
    this.#put('Set {')
    setForEach(value, (item) => {
      this.#put(separator)
      this.write(item, '', depth)
      separator = ', '
    })
    this.#put('}')
  }

  #fields(value: object, depth: number): void {
    const keys = readKeys(value)
    if (Unreadable.is(keys)) return this.#put(jsonString(`[keys threw: ${keys.message}]`))
    if (keys.length === 0) return this.#put(handleText(value) ?? '{}')
    let separator = ''
    this.#put('{')
    for (let index = 0; index < keys.length; index++) {
      const key = keys[index] as string
      const field = readProperty(value, key)
      if (isLeftOut(field)) continue
      this.#put(`${separator}${jsonString(key)}:`)
      this.write(field, key, depth)
      separator = ','
    }
    this.#put('}')
  }
}

/** Values that `JSON.stringify` omits from objects. In lists it writes null for them. */
function isLeftOut(value: unknown): boolean {
  return value === undefined || typeof value === 'function' || typeof value === 'symbol'
}

const isIndexed = (value: object): value is ArrayLike<unknown> =>
  typeof readProperty(value, 'length') === 'number'
