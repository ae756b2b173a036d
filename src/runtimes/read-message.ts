/** A message of a guest, read within bounds: a short one at once, a long one in parts. */
import { StringDecoder } from 'node:string_decoder'

import type { Steps } from '../core/steps.ts'
import { fitsResult, levelsMax } from './claimed-value.ts'
import { JsonReader, TooCostly } from './json-reader.ts'
import type { JsonBounds } from './json-reader.ts'
import { measureMessage } from './message-cost.ts'

export interface Message {
  readonly fields: Readonly<Record<string, unknown>>
  /** Of its JSON. */
  readonly bytes: number
  /** Whether a field is small and flat enough for everything that the host does with it. */
  readonly fits: (field: string, bytesMax: number) => boolean
}

/** Read by the engine in less than a millisecond, whatever they hold. */
const shortBytesMax = 16 * 1024
const textBytesAtOnce = 512 * 1024
/** Some microseconds; of a long string, a millisecond. */
const stepsAtOnce = 32

/** More than a person would send. Around a value are its message and, in a call, nothing more. */
const bounds: JsonBounds = { levelsMax: levelsMax + 2, itemsMax: 4_000_000 }
const containersMax = 1_000_000
const keysMax = 250_000

export const tooMuch = `${containersMax} lists and objects, ${keysMax} different keys or ${bounds.itemsMax} members of a list, or are nested too deeply`

/** `undefined` for what is no JSON, `null` for JSON that is no message of ours. */
export function* readMessage(json: Buffer): Steps<Message | 'too costly' | null | undefined> {
  try {
    const message = json.length <= shortBytesMax ? readShort(json) : yield* readLong(json)
    return isRecord(message.fields) ? message : null
  } catch (thrown) {
    return thrown instanceof TooCostly ? 'too costly' : undefined
  }
}

function readShort(json: Buffer): Message {
  const fields = JSON.parse(json.toString('utf8')) as Message['fields']
  const bytes = json.length
  return {
    fields,
    bytes,
    fits: (field, maxBytes) => fitsResult(fields[field], { frameBytes: bytes, maxBytes }),
  }
}

function* readLong(json: Buffer): Steps<Message> {
  const cost = yield* measureMessage(json)
  if (cost.containers > containersMax || cost.keys > keysMax) throw new TooCostly()
  const reader = new JsonReader(yield* decodeText(json), bounds)
  while (!reader.advance(stepsAtOnce)) yield
  const fields = reader.value as Message['fields']
  const bytes = json.length
  return {
    fields,
    bytes,
    // The frame also holds the value as text; only the value counts.
    fits: (field, bytesMax) => bytes <= bytesMax || Buffer.byteLength(reader.textOf(field)) <= bytesMax,
  }
}

/** Bytes that are no UTF-8 take the engine long. */
function* decodeText(bytes: Buffer): Steps<string> {
  if (bytes.length <= textBytesAtOnce) return bytes.toString('utf8')
  const decoder = new StringDecoder('utf8')
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += textBytesAtOnce) {
    pieces.push(decoder.write(bytes.subarray(at, at + textBytesAtOnce)))
    yield
  }
  return pieces.join('') + decoder.end()
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
