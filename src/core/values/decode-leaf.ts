/**
 * Decodes the tags that contain no other values. A decoder checks the whole shape before it creates anything, and
 * returns `malformed` if the shape is wrong. The input may be hostile, so the work stays proportional to its size.
 */
import { fromBase64 } from './base64.ts'
import { Unserializable } from './encode-leaf.ts'

export type Fields = Readonly<Record<string, unknown>>

export const malformed = Symbol('malformed')

type LeafDecoder = (fields: Fields, isTrusted: boolean) => unknown

/**
 * Also returns `malformed` for a tag that contains other values, for an unknown tag, and, in an untrusted document, for
 * values that take the engine longer than their size suggests.
 */
export function decodeLeaf(tag: string, fields: Fields, isTrusted: boolean): unknown {
  const decoder = decoders.get(tag)
  return decoder === undefined ? malformed : decoder(fields, isTrusted)
}

const decoders: ReadonlyMap<string, LeafDecoder> = new Map<string, LeafDecoder>([
  ['undefined', () => undefined],
  ['hole', () => undefined],
  ['NaN', () => NaN],
  ['Infinity', () => Infinity],
  ['-Infinity', () => -Infinity],
  ['-0', () => -0],
  ['BigInt', decodeInteger],
  ['Date', ({ value }) => (value === null ? new Date(NaN) : decodeDate(value))],
  ['datetime', ({ value }) => decodeDatetime(value)],
  ['date', ({ value }) => ifText(value)],
  ['time', ({ value }) => ifText(value)],
  ['Decimal', ({ value }) => ifText(value)],
  ['RegExp', decodeRegExp],
  ['Unserializable', ({ text }) => (typeof text === 'string' ? new Unserializable(text) : malformed)],
  ['ArrayBuffer', ({ value }) => decodeBytes(value)?.buffer ?? malformed],
  ['DataView', ({ value }) => decodeView(DataView, value)],
  ['bytes', ({ value }) => decodeBytes(value) ?? malformed],
  ['bytearray', ({ value }) => decodeBytes(value) ?? malformed],
  ...viewNames().map((name): [string, LeafDecoder] => [
    name,
    ({ value }) => decodeView(viewConstructor(name), value),
  ]),
])

const ifText = (value: unknown): unknown => (typeof value === 'string' ? value : malformed)

// Decimals are bounded because parsing them is not linear in every engine.
const integer = /^(?:-?\d{1,4300}|(-?)(0x[0-9a-f]+))$/

/** The engine reads this many hexadecimal digits in some milliseconds, without a pause. */
const integerLengthMax = 1024 * 1024

function decodeInteger({ value }: Fields, isTrusted: boolean): unknown {
  if (!isTrusted && typeof value === 'string' && value.length > integerLengthMax) return malformed
  const match = typeof value === 'string' ? integer.exec(value) : null
  if (match === null) return malformed
  try {
    if (match[2] === undefined) return BigInt(match[0])
    return match[1] === '-' ? -BigInt(match[2]) : BigInt(match[2])
  } catch {
    // Longer than the engine's longest integer.
    return malformed
  }
}

const moment = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** As `toISOString` writes it; `new Date` accepts much more, and reads some of it in the host's time zone. */
function decodeDate(value: unknown): unknown {
  const live = typeof value === 'string' && moment.test(value) ? new Date(value) : undefined
  return live === undefined || Number.isNaN(live.getTime()) ? malformed : live
}

const isoformat =
  /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(\.\d{1,6})?(?:Z|([+-])(\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?)?$/

/** Python's isoformat: microseconds are cut to milliseconds, and a time without an offset is UTC. */
function decodeDatetime(value: unknown): unknown {
  const parts = typeof value === 'string' ? isoformat.exec(value) : null
  if (parts === null) return malformed
  const [, day, time, fraction = '', sign, hours = 0, minutes = 0, seconds = 0] = parts
  const local = Date.parse(`${day}T${time}${fraction.slice(0, 4)}Z`)
  const offsetMs = 1000 * (3600 * Number(hours) + 60 * Number(minutes) + Number(seconds))
  const live = new Date(local - (sign === '-' ? -offsetMs : offsetMs))
  return Number.isNaN(live.getTime()) ? malformed : live
}

/**
 * Beyond these bounds a regular expression stays an object with its source: the engine compiles a pattern without a
 * pause, and takes milliseconds for each named set (`\p{…}`).
 */
const sourceLengthMax = 4096
const namedSetsMax = 8

function decodeRegExp({ source, flags }: Fields, isTrusted: boolean): unknown {
  if (typeof source !== 'string' || typeof flags !== 'string') return malformed
  if (isTrusted) return createRegExp(source, flags)
  return isCheapPattern(source) ? createRegExp(source, flags) : malformed
}

export function isCheapPattern(source: string): boolean {
  return source.length <= sourceLengthMax && source.split(/\\p/i, namedSetsMax + 2).length <= namedSetsMax + 1
}

function createRegExp(source: string, flags: string): unknown {
  try {
    return new RegExp(source, flags)
  } catch {
    return malformed
  }
}

/** A buffer of its own, never a slice of Node's shared pool. */
function decodeBytes(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (typeof value !== 'string' || value.length % 4 !== 0) return undefined
  // These belong to the URL-safe alphabet, which is not accepted; any other wrong character makes the result shorter. A
  // regular expression would take five times as long.
  if (value.includes('-') || value.includes('_')) return undefined
  const bytes = fromBase64(value)
  const padding = value.endsWith('==') ? 2 : Number(value.endsWith('='))
  if (bytes.length !== (value.length / 4) * 3 - padding) return undefined
  return bytes.buffer.byteLength === bytes.length ? new Uint8Array(bytes.buffer) : new Uint8Array(bytes)
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
