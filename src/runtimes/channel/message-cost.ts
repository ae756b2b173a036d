/**
 * Estimates what a message would cost the host to parse and decode, before it is parsed. The length says little: `[]` takes
 * twenty times as much memory as its text. A key that no other object has takes microseconds, but a key that all records
 * of a list share takes nothing.
 */
import { systemClock } from '../../core/clock.ts'
import type { Steps } from '../../core/steps.ts'

export interface MessageCost {
  /** Lists and objects. One with a tag counts as several, because its decoded value takes more. */
  readonly containers: number
  /** Distinct keys. A few may be missed, because they are distinguished by a hash. */
  readonly keys: number
  /** The members of all lists and objects together, except the first of each. */
  readonly members: number
}

const [quote, backslash, bracket, brace, colon, dollar, comma] = [0x22, 0x5c, 0x5b, 0x7b, 0x3a, 0x24, 0x2c]
/** An Error, a Set or a Date takes as much more than the object that encodes it as this many lists. */
const tagContainers = 3
/** The size of the bit set of seen keys. It grows with the message, because small messages have few keys. */
const [seenBitsPerByte, seenBitsMin, seenBitsMax] = [2, 2 ** 17, 2 ** 23]
/** Random, so that guests cannot choose keys that all collide. */
const [seed, factor] = [randomInteger(), randomInteger() | 1]

/** How much is scanned in one step. */
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
      // Mixes the high bits into the low ones at each byte. Without this, some factors make tens of thousands of keys collide.
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
