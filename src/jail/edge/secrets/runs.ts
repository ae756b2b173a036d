/**
 * Finds the runs of bytes that are long enough for a text and have only bytes that one may have, and passes no other on.
 * Which bytes these are depends on a notation's alphabet, and not on the values.
 */
/** A part of a stream, and the same bytes as they are shown. */
export interface Piece {
  readonly bytes: Buffer
  readonly shown: Buffer
  /** Where it begins in the stream. */
  readonly offset: number
}

/** What takes the bytes of a run, in order. */
export interface Sink {
  read(piece: Piece, from: number, to: number): void
  end(): void
}

/** Lines may be broken, and UTF-16 and UTF-32 have NULs. */
const neutral = /[\0\r\n]/
/** The first bytes of spellings, and the others. */
const opening = /[%=\\&]/
const spelling = /[\da-z#;{}]/i
/**
 * So many bytes after its last opening byte belong to a spelling at most, besides repeated zeros: an entity's longest name,
 * after an entity for its ampersand.
 */
const spellingMax = 24

/** By state and byte: 0 for a byte that ends a run, otherwise the next state and 1. State 0 is outside of a spelling. */
export type Members = Uint8Array

/** Bytes of the alphabet, and others where they may belong to a spelling. */
export function membersOf(alphabet: RegExp): Members {
  const next = (state: number, byte: number): number => {
    const char = String.fromCharCode(byte)
    if (neutral.test(char) || (state > 0 && char === '0')) return state + 1
    if (opening.test(char)) return spellingMax + 1
    if (state > 0 && spelling.test(char)) return state
    return alphabet.test(char.toLowerCase()) ? Math.max(state, 1) : 0
  }
  return Uint8Array.from({ length: (spellingMax + 1) << 8 }, (_, index) => next(index >> 8, index & 0xff))
}

const percent = '%'.charCodeAt(0)
/** Of a `%` that may spell a byte which ends a run. */
const mayEnd = 2

/**
 * Bytes of the alphabet, and all that may belong to spellings: they are found faster, because there is one state. If `%` is
 * in no text, a byte that is percent-encoded is one like any other.
 */
export function allMembersOf(alphabet: RegExp): Members {
  const kinds = [neutral, opening, spelling, alphabet]
  const members = Uint8Array.from({ length: 256 }, (_, byte) =>
    Number(kinds.some((kind) => kind.test(String.fromCharCode(byte).toLowerCase()))),
  )
  if (!alphabet.test('%')) members[percent] = mayEnd
  return members
}

const digits = Array.from({ length: 256 }, (_, byte) => Number.parseInt(String.fromCharCode(byte), 16))

export class Run implements Sink {
  readonly #members: Members
  readonly #hasStates: boolean
  readonly #lengthMin: number
  readonly #sink: Sink
  #state = 0
  #length = 0

  constructor(members: Members, lengthMin: number, sink: Sink) {
    this.#members = members
    this.#hasStates = members.length > 256
    this.#lengthMin = lengthMin
    this.#sink = sink
  }

  read(piece: Piece, from: number, to: number): void {
    const { bytes } = piece
    let at = from
    while (at < to) {
      if (this.#length === 0) at = this.#skip(bytes, at, to)
      const end = this.#endOf(bytes, at, to)
      const before = this.#length < this.#lengthMin ? this.#length : 0
      this.#length += end - at
      if (this.#length >= this.#lengthMin) this.#sink.read(piece, Math.max(0, at - before), end)
      if (end < to) this.end()
      at = end + 1
    }
  }

  /** Where the next run may begin. If all states are one, most bytes of shorter runs are never looked at. */
  #skip(bytes: Buffer, from: number, to: number): number {
    let start = from
    if (this.#hasStates) while (start < to && this.#members[bytes[start] as number] === 0) start++
    else
      for (let at = Math.min(start + this.#lengthMin, to) - 1; at >= start; at--)
        if (this.#isEnd(bytes, at)) {
          start = at + 1
          at = Math.min(start + this.#lengthMin, to)
        }
    return start
  }

  /** Where the next byte is that ends the run. */
  #endOf(bytes: Buffer, from: number, to: number): number {
    const members = this.#members
    let at = from
    if (!this.#hasStates) {
      while (at < to && !this.#isEnd(bytes, at)) at++
      return at
    }
    let next = this.#state + 1
    while (at < to) {
      next = members[((next - 1) << 8) | (bytes[at] as number)] as number
      if (next === 0) return at
      at++
    }
    this.#state = next - 1
    return at
  }

  #isEnd(bytes: Buffer, at: number): boolean {
    const member = this.#members[bytes[at] as number] as number
    if (member !== mayEnd) return member === 0
    // Digits that have not arrived yet are none.
    const byte =
      (digits[bytes[at + 1] as number] as number) * 16 + (digits[bytes[at + 2] as number] as number)
    return this.#members[byte] === 0
  }

  end(): void {
    if (this.#length >= this.#lengthMin) this.#sink.end()
    this.#length = this.#state = 0
  }
}

export class Fork implements Sink {
  readonly #sinks: readonly Sink[]

  constructor(sinks: readonly Sink[]) {
    this.#sinks = sinks
  }

  read(piece: Piece, from: number, to: number): void {
    for (const sink of this.#sinks) sink.read(piece, from, to)
  }

  end(): void {
    for (const sink of this.#sinks) sink.end()
  }
}
