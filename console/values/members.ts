/** The members of a decoded value, and its summary in one line. All of it is guest text. */
import { Unserializable } from '../../src/core/values/encode-leaf.ts'

export interface Member {
  readonly label?: string
  readonly value: unknown
}

/** The most characters of one line. */
const textMax = 1000

/** Lazily, so that a long value costs only as much as is shown of it. Undefined for a value without members. */
export function membersOf(value: unknown): Iterable<Member> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value) || isList(value)) return value.length === 0 ? undefined : listItems(value)
  if (value instanceof Map) return value.size === 0 ? undefined : mapEntries(value)
  if (value instanceof Set) return value.size === 0 ? undefined : setItems(value)
  if (isWhole(value)) return undefined
  const keys = value instanceof Error ? Object.getOwnPropertyNames(value) : Object.keys(value)
  return keys.length === 0 ? undefined : properties(value, keys)
}

export type Kind = 'text' | 'number' | 'word' | 'object'

export function summarize(value: unknown): { readonly kind: Kind; readonly text: string } {
  switch (typeof value) {
    case 'string':
      return { kind: 'text', text: JSON.stringify(clip(value)) }
    case 'number':
      return { kind: 'number', text: Object.is(value, -0) ? '-0' : String(value) }
    case 'bigint':
      return { kind: 'number', text: clip(`${value}n`) }
    case 'object':
      return value === null ? { kind: 'word', text: 'null' } : { kind: 'object', text: describe(value) }
    default:
      return { kind: 'word', text: clip(String(value)) }
  }
}

function describe(value: object): string {
  if (Array.isArray(value)) return `list of ${value.length}`
  if (isList(value)) return `${nameOf(value)} of ${value.length}`
  if (value instanceof Map || value instanceof Set) return `${nameOf(value)} of ${value.size}`
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (value instanceof RegExp) return clip(String(value))
  if (value instanceof ArrayBuffer) return `ArrayBuffer of ${value.byteLength} bytes`
  if (value instanceof DataView) return `DataView of ${value.byteLength} bytes`
  if (value instanceof Error) return clip(`${value.name}: ${value.message}`)
  if (Unserializable.is(value)) return clip(value.text)
  const count = Object.keys(value).length
  return count === 1 ? 'object with 1 key' : `object with ${count} keys`
}

/** Whether one line shows all of it. */
function isWhole(value: object): boolean {
  const kinds = [Date, RegExp, ArrayBuffer, DataView]
  return kinds.some((kind) => value instanceof kind) || Unserializable.is(value)
}

type List = ArrayLike<unknown> & object

/** Whether it is a typed array. */
function isList(value: object): value is List {
  return ArrayBuffer.isView(value) && !(value instanceof DataView)
}

function nameOf(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}

function* listItems(list: ArrayLike<unknown>): Generator<Member> {
  for (let index = 0; index < list.length; index++) yield { label: String(index), value: list[index] }
}

function* mapEntries(map: ReadonlyMap<unknown, unknown>): Generator<Member> {
  for (const [key, value] of map) {
    // A key with members of its own is shown beside its value.
    if (membersOf(key) === undefined) yield { label: summarize(key).text, value }
    else yield { label: 'entry', value: { key, value } }
  }
}

function* setItems(set: ReadonlySet<unknown>): Generator<Member> {
  for (const value of set) yield { value }
}

function* properties(value: object, keys: readonly string[]): Generator<Member> {
  for (const key of keys) yield { label: clip(key), value: Reflect.get(value, key) }
}

function clip(text: string): string {
  return text.length > textMax ? `${text.slice(0, textMax)}…` : text
}
