/**
 * What a message would cost the host to parse and decode, counted before that is done. Length says little: `[]` takes
 * twenty times what it takes as text. A key that no other object has takes microseconds, but a key that all records of
 * a list share takes nothing.
 */
import { systemClock } from '../../core/clock.ts'
import type { Steps } from '../../core/steps.ts'

export interface MessageCost {
  /** Lists and objects; those with a tag count as several, for what their values take. */
  readonly containers: number
  /** Distinct keys. A few may be missed, because they are distinguished by a hash. */
  readonly keys: number
  /** The members of all lists and objects together, except the first of each. */
  readonly members: number
}

const [quote, backslash, bracket, brace, colon, dollar, comma] = [0x22, 0x5c, 0x5b, 0x7b, 0x3a, 0x24, 0x2c]
/** An Error, a Set or a Date takes about this many lists more than the object that encodes it. */
const tagContainers = 3
/** Small messages have few keys, and memory for many would be most of what reading them takes. */
const [seenBitsPerByte, seenBitsMin, seenBitsMax] = [2, 2 ** 17, 2 ** 23]
/** Random, so that guests cannot choose keys that all collide. */
const [seed, factor] = [randomInteger(), randomInteger() | 1]

/** How much is scanned between two pauses. */
const bytesAtOnce = 64 * 1024

/** `json` need not be JSON. */
export function* measureMessage(json: Buffer): Steps<MessageCost> {
  const seenBits = Math.min(
    Math.max(2 ** Math.ceil(Math.log2(seenBitsPerByte * json.length + 1)), seenBitsMin),
    seenBitsMax,
  )
  const seen = new Uint8Array(seenBits / 8)
  let containers = 0
  let keys = 0
  let members = 0
  let stop = bytesAtOnce
  for (let at = 0; at < json.length; at++) {
    if (at >= stop) {
      stop = at + bytesAtOnce
      yield
    }
    const byte = json[at]
    if (byte === bracket || byte === brace) containers++
    else if (byte === comma) members++
    if (byte !== quote) continue
    let hash = seed
    const first = json[at + 1]
    for (at++; at < json.length && json[at] !== quote; at++) {
      if (at >= stop) {
        stop = at + bytesAtOnce
        yield
      }
      if (json[at] === backslash) at++
      hash = Math.imul(hash ^ (json[at] ?? 0), factor)
      // The high bits must reach the low ones at each byte: some factors alone let tens of thousands of keys collide.
      hash ^= hash >>> 15
    }
    if (!isFollowedByColon(json, at + 1)) continue
    // An escape may stand for the dollar.
    if (first === dollar || first === backslash) containers += tagContainers
    const slot = hash & (seenBits - 1)
    const bit = 1 << (slot & 7)
    if (((seen[slot >>> 3] ?? 0) & bit) !== 0) continue
    seen[slot >>> 3] = (seen[slot >>> 3] ?? 0) | bit
    keys++
  }
  return { containers, keys, members }
}

function isFollowedByColon(json: Buffer, from: number): boolean {
  let at = from
  while (json[at] === 0x20 || json[at] === 0x09 || json[at] === 0x0a || json[at] === 0x0d) at++
  return json[at] === colon
}

function randomInteger(): number {
  return Number.parseInt(systemClock.id().slice(0, 8), 16)
}
