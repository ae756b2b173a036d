/**
 * The live JavaScript value of each tag in `values.ts` that has values inside. A decoder checks its tag's whole shape
 * before it makes anything and gives `malformed` when the shape is wrong. Input may be hostile: work stays proportional
 * to its size.
 */
import { type Fields, malformed } from './decode-leaf.ts'
import type { Pace } from './decode-pace.ts'
import { fillCollection } from './fill-collection.ts'

export interface Decoding {
  /** Absent when the document is trusted. */
  readonly pace: Pace | undefined
  /** Decodes a child. */
  decode(tagged: unknown): unknown
  /** Announces what a node becomes before its content is read, so that a Ref inside can name it. */
  open<Live>(node: object, live: Live): Live
}

/** `node` is what a Ref to it names. */
type Decoder = (node: Fields, decoding: Decoding) => unknown

/** Copies the own fields of an encoded object; a key `__proto__` stays a key. */
export function decodeFields(fields: Fields, node: object, decoding: Decoding): Record<string, unknown> {
  const live = decoding.open<Record<string, unknown>>(node, {})
  copyFields(fields, live, decoding)
  return live
}

/** Copies an encoded array; a `hole` stays one. */
export function decodeArray(items: readonly unknown[], node: object, decoding: Decoding): unknown[] {
  const live = decoding.open(node, [] as unknown[])
  for (let index = 0; index < items.length; index++) {
    if (isHole(items[index])) live.length = index + 1
    else live[index] = decoding.decode(items[index])
  }
  return live
}

export const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['timedelta', decodeTimedelta],
  ['complex', (node, decoding) => decoding.open(node, decodeComplex(node, decoding))],
  ['Map', decodeMap],
  ['Set', decodeSet],
  ['set', decodeSet],
  ['frozenset', decodeSet],
  [
    'tuple',
    (node, decoding) =>
      Array.isArray(node['value']) ? decodeArray(node['value'], node, decoding) : malformed,
  ],
  [
    'Object',
    (node, decoding) => (isFields(node['value']) ? decodeFields(node['value'], node, decoding) : malformed),
  ],
  ['Error', decodeError],
])

function copyFields(fields: Fields, live: object, decoding: Decoding): void {
  for (const key of Object.keys(fields)) {
    const value = decoding.decode(fields[key])
    // Assigning would run a setter (`__proto__`), and fails where the host has frozen Object.prototype.
    if (key in live)
      Object.defineProperty(live, key, { value, writable: true, enumerable: true, configurable: true })
    else (live as Record<string, unknown>)[key] = value
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isHole = (value: unknown): boolean =>
  isFields(value) && Object.hasOwn(value, '$type') && value['$type'] === 'hole'

function decodeTimedelta({ value }: Fields, decoding: Decoding): unknown {
  return typeof value === 'object' || typeof value === 'number' ? decoding.decode(value) : malformed
}

function decodeComplex({ real, imag }: Fields, decoding: Decoding): unknown {
  return { real: decoding.decode(real), imag: decoding.decode(imag) }
}

function decodeMap(node: Fields, decoding: Decoding): unknown {
  const { value } = node
  if (!Array.isArray(value) || !value.every(isPair)) return malformed
  const live = decoding.open(node, new Map<unknown, unknown>())
  const entries = value.map(([key, item]): [unknown, unknown] => [
    decoding.decode(key),
    decoding.decode(item),
  ])
  fillCollection(
    entries.length,
    (index) => live.set(...(entries[index] as [unknown, unknown])),
    decoding.pace,
  )
  return live
}

const isPair = (entry: unknown): entry is [unknown, unknown] => Array.isArray(entry) && entry.length === 2

function decodeSet(node: Fields, decoding: Decoding): unknown {
  const { value } = node
  if (!Array.isArray(value)) return malformed
  const live = decoding.open(node, new Set<unknown>())
  const items = value.map((item) => decoding.decode(item))
  fillCollection(items.length, (index) => live.add(items[index]), decoding.pace)
  return live
}

const errorConstructors: ReadonlyMap<string, (message: string) => Error> = new Map(
  [EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((Kind) => [
    Kind.name,
    (message) => new Kind(message),
  ]),
)

function createError(name: string, message: string): Error {
  if (name === 'AggregateError') return new AggregateError([], message)
  return errorConstructors.get(name)?.(message) ?? new Error(message)
}

function decodeError(node: Fields, decoding: Decoding): unknown {
  const { name, message, stack, properties } = node
  if (typeof name !== 'string' || typeof message !== 'string') return malformed
  const live = decoding.open(node, createError(name, message))
  if (live.name !== name) defineHidden(live, 'name', name)
  defineHidden(live, 'stack', typeof stack === 'string' ? stack : `${name}: ${message}`)
  if (Object.hasOwn(node, 'cause')) defineHidden(live, 'cause', decoding.decode(node['cause']))
  if (Array.isArray(node['errors'])) defineHidden(live, 'errors', decoding.decode(node['errors']))
  if (isFields(properties)) copyFields(properties, live, decoding)
  return live
}

function defineHidden(live: object, key: string, value: unknown): void {
  Object.defineProperty(live, key, { value, writable: true, enumerable: false, configurable: true })
}
