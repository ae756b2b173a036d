/** Reads a message of a guest within bounds: a short one at once, a long one in steps. */
import { StringDecoder } from 'node:string_decoder'

import type { Steps } from '../../core/steps.ts'
import { fitsResult, levelsMax } from './claimed-value.ts'
import { JsonReader, TooCostly } from './json-reader.ts'
import { measureMessage } from './message-cost.ts'
import type { MessageCost } from './message-cost.ts'
import type { MessageRoom } from './message-room.ts'

export interface Message {
  readonly fields: Readonly<Record<string, unknown>>
  /** The length of its JSON. */
  readonly bytes: number
  /** What it took of the run's `MessageRoom`. */
  readonly cost: MessageCost
  /** False only if it certainly contains no Ref. */
  readonly mayHaveRefs: boolean
  /** Whether a field is small and flat enough to be processed by the host. */
  readonly fits: (field: string, bytesMax: number) => boolean
}

/** The engine parses shorter texts in less than a millisecond, whatever they contain. */
const shortBytesMax = 16 * 1024
const textBytesAtOnce = 512 * 1024
/** Takes some microseconds, or a millisecond in a long string. */
const stepsAtOnce = 32

/** A message adds these levels to those of its value. */
const messageLevelsMax = levelsMax + 2
const noCost: MessageCost = { containers: 0, keys: 0, members: 0 }

/** `undefined` for invalid JSON, `null` for JSON that is not a message. */
export function* readMessage(
  json: Buffer,
  room: MessageRoom,
): Steps<Message | 'too costly' | null | undefined> {
  try {
    const message = json.length <= shortBytesMax ? readShort(json) : yield* readLong(json, room)
    return isRecord(message.fields) ? message : null
  } catch (thrown) {
    return thrown instanceof TooCostly ? 'too costly' : undefined
  }
}

function readShort(json: Buffer): Message {
  const text = json.toString('utf8')
  const fields = JSON.parse(text) as Message['fields']
  const bytes = json.length
  return {
    fields,
    bytes,
    cost: noCost,
    mayHaveRefs: mayHaveRefs(text),
    fits: (field, maxBytes) => fitsResult(fields[field], { frameBytes: bytes, maxBytes }),
  }
}

function* readLong(json: Buffer, room: MessageRoom): Steps<Message> {
  const cost = yield* measureMessage(json)
  if (!room.take(cost)) throw new TooCostly()
  const text = yield* decodeText(json)
  const reader = new JsonReader(text, { levelsMax: messageLevelsMax, itemsMax: room.itemsMax })
  while (!reader.advance(stepsAtOnce)) yield
  const hasRefs = yield* searchRefs(text)
  const fields = reader.value as Message['fields']
  const bytes = json.length
  return {
    fields,
    bytes,
    cost,
    mayHaveRefs: hasRefs,
    // The frame also contains the value as text, but only the value counts.
    fits: (field, bytesMax) => bytes <= bytesMax || Buffer.byteLength(reader.textOf(field)) <= bytesMax,
  }
}

/** Searches for the name of the tag, or for an escape that may stand for one of its letters. */
const mayHaveRefs = (json: string): boolean => json.includes('"Ref"') || json.includes('\\u')

/** Searches in steps, because a long text takes long. */
function* searchRefs(text: string): Steps<boolean> {
  const overlap = '"Ref"'.length - 1
  for (let at = 0; at < text.length; at += textBytesAtOnce) {
    if (mayHaveRefs(text.slice(at, at + textBytesAtOnce + overlap))) return true
    yield
  }
  return false
}

/** Decodes in steps, because the engine is slow for bytes that are not valid UTF-8. */
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
