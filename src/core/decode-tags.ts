/**
 * The live JavaScript value of each tag in `values.ts`. A decoder checks its tag's whole shape before it makes anything
 * and gives `malformed` when the shape is wrong. Input may be hostile: work stays proportional to its size.
 */
import { Unserializable } from './encode-leaf.ts'

export type Fields = Readonly<Record<string, unknown>>

export interface Inner {
  /** Decodes a child. */
  readonly decode: (tagged: unknown) => unknown
  /** Announces a container before its content is read, so that a Ref inside can name it. */
  readonly open: <Live>(live: Live) => Live
}

export const malformed = Symbol('malformed')
export type Decoder = (fields: Fields, inner: Inner) => unknown

/** Copies the own fields of an encoded object; a key `__proto__` stays a key. */
export function decodeFields(fields: Fields, { decode, open }: Inner): Record<string, unknown> {
  const live = open<Record<string, unknown>>({})
  copyFields(fields, live, decode)
  return live
}

/** Copies an encoded array; a `hole` stays one. */
export function decodeArray(items: readonly unknown[], { decode, open }: Inner): unknown[] {
  const live = open([] as unknown[])
  for (let index = 0; index < items.length; index++) {
    if (isHole(items[index])) live.length = index + 1
    else live[index] = decode(items[index])
  }
  return live
}

export const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['undefined', () => undefined],
  ['hole', () => undefined],
  ['NaN', () => NaN],
  ['Infinity', () => Infinity],
  ['-Infinity', () => -Infinity],
  ['-0', () => -0],
  ['BigInt', ({ value }) => decodeInteger(value)],
  ['Date', ({ value }) => (value === null ? new Date(NaN) : decodeDate(value))],
  ['datetime', ({ value }) => decodeDatetime(value)],
  ['date', ({ value }) => ifText(value)],
  ['time', ({ value }) => ifText(value)],
  ['Decimal', ({ value }) => ifText(value)],
  [
    'timedelta',
    ({ value }, { decode }) => (typeof value === 'object' || isNumber(value) ? decode(value) : malformed),
  ],
  ['complex', ({ real, imag }, { decode }) => ({ real: decode(real), imag: decode(imag) })],
  ['RegExp', decodeRegExp],
  ['Map', decodeMap],
  ['Set', decodeSet],
  ['set', decodeSet],
  ['frozenset', decodeSet],
  ['tuple', ({ value }, inner) => (Array.isArray(value) ? decodeArray(value, inner) : malformed)],
  ['Object', ({ value }, inner) => (isFields(value) ? decodeFields(value, inner) : malformed)],
  ['Error', decodeError],
  ['Unserializable', ({ text }) => (typeof text === 'string' ? new Unserializable(text) : malformed)],
  ['ArrayBuffer', ({ value }) => decodeBytes(value)?.buffer ?? malformed],
  ['DataView', ({ value }) => decodeView(DataView, value)],
  ['bytes', ({ value }) => decodeBytes(value) ?? malformed],
  ['bytearray', ({ value }) => decodeBytes(value) ?? malformed],
  ...viewNames().map((name): [string, Decoder] => [
    name,
    ({ value }) => decodeView(viewConstructor(name), value),
  ]),
])

function copyFields(fields: Fields, live: object, decode: Inner['decode']): void {
  for (const key of Object.keys(fields)) {
    const value = decode(fields[key])
    Object.defineProperty(live, key, { value, writable: true, enumerable: true, configurable: true })
  }
}

const isNumber = (value: unknown): boolean => typeof value === 'number'
const ifText = (value: unknown): unknown => (typeof value === 'string' ? value : malformed)
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isHole = (value: unknown): boolean =>
  isFields(value) && Object.hasOwn(value, '$type') && value['$type'] === 'hole'

// Decimals are bounded because parsing them is not linear in every engine.
const integer = /^(?:-?\d{1,4300}|(-?)(0x[0-9a-f]+))$/

function decodeInteger(value: unknown): unknown {
  const match = typeof value === 'string' ? integer.exec(value) : null
  if (match === null) return malformed
  try {
    if (match[2] === undefined) return BigInt(match[0])
    return match[1] === '-' ? -BigInt(match[2]) : BigInt(match[2])
  } catch {
    return malformed
  }
}

function decodeDate(value: unknown): unknown {
  const live = typeof value === 'string' ? new Date(value) : undefined
  return live === undefined || Number.isNaN(live.getTime()) ? malformed : live
}

/** Python's isoformat: microseconds are cut to milliseconds, and a time without an offset is UTC. */
function decodeDatetime(value: unknown): unknown {
  if (typeof value !== 'string') return malformed
  const parts =
    /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?(Z|[+-]\d\d:\d\d)?(?::\d\d(?:\.\d{1,6})?)?$/.exec(
      value,
    )
  if (parts === null) return malformed
  const [, seconds, fraction = '', offset = 'Z'] = parts
  return decodeDate(`${seconds}${fraction.slice(0, 4)}${offset}`.replace(' ', 'T'))
}

function decodeRegExp({ source, flags }: Fields): unknown {
  if (typeof source !== 'string' || typeof flags !== 'string') return malformed
  try {
    return new RegExp(source, flags)
  } catch {
    return malformed
  }
}

function decodeMap({ value }: Fields, { decode, open }: Inner): unknown {
  if (!Array.isArray(value) || !value.every(isPair)) return malformed
  const live = open(new Map<unknown, unknown>())
  for (const [key, item] of value) live.set(decode(key), decode(item))
  return live
}

const isPair = (entry: unknown): entry is [unknown, unknown] => Array.isArray(entry) && entry.length === 2

function decodeSet({ value }: Fields, { decode, open }: Inner): unknown {
  if (!Array.isArray(value)) return malformed
  const live = open(new Set<unknown>())
  for (const item of value) live.add(decode(item))
  return live
}

const errorConstructors: Readonly<Record<string, ErrorConstructor>> = {
  __proto__: null as never,
  Error,
  EvalError,
  RangeError,
  ReferenceError,
  SyntaxError,
  TypeError,
  URIError,
}

function decodeError(fields: Fields, { decode, open }: Inner): unknown {
  const { name, message, stack, properties } = fields
  if (typeof name !== 'string' || typeof message !== 'string') return malformed
  const live = open(new (errorConstructors[name] ?? Error)(message))
  if (live.name !== name) defineHidden(live, 'name', name)
  defineHidden(live, 'stack', typeof stack === 'string' ? stack : `${name}: ${message}`)
  if (Object.hasOwn(fields, 'cause')) defineHidden(live, 'cause', decode(fields['cause']))
  if (Array.isArray(fields['errors'])) defineHidden(live, 'errors', decode(fields['errors']))
  if (isFields(properties)) copyFields(properties, live, decode)
  return live
}

function defineHidden(live: object, key: string, value: unknown): void {
  Object.defineProperty(live, key, { value, writable: true, enumerable: false, configurable: true })
}

/** A buffer of its own, never a slice of Node's shared pool. */
function decodeBytes(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  return typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : undefined
}

type View = new (buffer: ArrayBuffer) => ArrayBufferView

function decodeView(View: View | undefined, value: unknown): unknown {
  const bytes = decodeBytes(value)
  if (bytes === undefined || View === undefined) return malformed
  const elementBytes: unknown = Reflect.get(View, 'BYTES_PER_ELEMENT')
  if (typeof elementBytes === 'number' && bytes.length % elementBytes !== 0) return malformed
  return new View(bytes.buffer)
}

function viewNames(): readonly string[] {
  const integers = [
    'Int8',
    'Uint8',
    'Uint8Clamped',
    'Int16',
    'Uint16',
    'Int32',
    'Uint32',
    'BigInt64',
    'BigUint64',
  ]
  return [...integers, 'Float16', 'Float32', 'Float64'].map((kind) => `${kind}Array`)
}

/** `undefined` where the engine lacks it, as Node 22 lacks Float16Array. */
const viewConstructor = (name: string): View | undefined => Reflect.get(globalThis, name) as View | undefined
