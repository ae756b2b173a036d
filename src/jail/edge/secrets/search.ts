/** Looks for the texts of a notation in a run of bytes, in all that the bytes may spell, and hides them. */
import type { Pattern } from './pattern.ts'
import type { Piece, Sink } from './runs.ts'
import { charIn, classOf, otherClass, placeIn, Reader } from './spellings.ts'

const asterisk = '*'.charCodeAt(0)
const space = ' '.charCodeAt(0)

/** How much work has been done, so that a test can prove what it depends on. */
export interface Work {
  steps: number
}

/** A character of more than one byte. */
interface Spelled {
  readonly start: number
  readonly end: number
  readonly char: number
}

export class Search implements Sink {
  readonly #pattern: Pattern
  readonly #hideMax: number
  readonly #work: Work
  readonly #reader = new Reader()
  /** Sets of positions, and the places in the stream that they belong to: here, and where an open spelling begins. */
  readonly #sets: Int32Array[] = []
  readonly #places: number[] = []
  /** Whether a set may have positions: not after a character that is in no text of the notation, whatever the value is. */
  readonly #isUsed: boolean[] = []
  #here = 0
  /** Ordered by end. */
  #spelled: Spelled[] = []

  constructor(pattern: Pattern, { hideMax, work }: { hideMax: number; work: Work }) {
    this.#pattern = pattern
    this.#hideMax = hideMax
    this.#work = work
  }

  read(piece: Piece, from: number, to: number): void {
    const { bytes, offset } = piece
    for (let at = from; at < to; at++) {
      if (this.#reader.isBetween) at = this.#readPlain(piece, at, to)
      const char = at < to ? (classOf[bytes[at] as number] as number) : 0
      // A part of a character in UTF-16 or UTF-32.
      if (char === 0) continue
      this.#readSpelled(char, offset + at)
      if (this.#pattern.hasLast(this.#setOf(this.#here))) this.#hide(piece, at)
    }
    if (this.#spelled.length > 0) this.#forget(offset)
  }

  end(): void {
    this.#setOf(this.#here).fill(0)
    this.#isUsed[this.#here] = false
    this.#reader.end()
    this.#spelled = []
  }

  /** Reads characters that stand for themselves, up to the next one that may do otherwise. Returns where that is. */
  #readPlain(piece: Piece, from: number, to: number): number {
    const { bytes } = piece
    const pattern = this.#pattern
    const { plainRowOf } = pattern
    this.#isUsed[this.#here] = true
    const set = this.#setOf(this.#here)
    let at = from
    for (; at < to; at++) {
      const row = plainRowOf[bytes[at] as number] as number
      if (row < 0) break
      if (pattern.advance(set, row)) this.#hide(piece, at)
    }
    this.#work.steps += pattern.words * (at - from)
    return at
  }

  /** Reads a character that may begin or end spellings. */
  #readSpelled(char: number, place: number): void {
    this.#places[this.#here] = place
    const after = this.#free()
    this.#reader.read(char, this.#here)
    const { completed } = this.#reader
    const set = this.#setOf(after)
    if (this.#isUsed[after] === true) set.fill(0)
    this.#isUsed[after] = false
    for (let one = 0; one < completed.length; one++) {
      const before = placeIn(completed.at(one))
      const whole = charIn(completed.at(one))
      if (!this.#pattern.mayHave(whole)) continue
      this.#isUsed[after] = true
      this.#work.steps += this.#pattern.addNext(set, this.#setOf(before), whole)
      if (before !== this.#here)
        this.#spelled.push({ start: this.#places[before] as number, end: place + 1, char: whole })
    }
    this.#here = after
  }

  /** The number of a set that no open spelling needs. */
  #free(): number {
    let free = 0
    while (free === this.#here || this.#reader.isOpenAt(free)) free++
    return free
  }

  #setOf(number: number): Int32Array {
    return (this.#sets[number] ??= new Int32Array(this.#pattern.words))
  }

  /** Writes asterisks over the texts that end at a place. If the start of one is not here, all that is here belongs to it. */
  #hide({ bytes, shown, offset }: Piece, at: number): void {
    const first = Math.max(0, at - this.#hideMax)
    for (const text of this.#pattern.endingWith(this.#setOf(this.#here))) {
      let places: readonly number[] = [at + 1]
      for (let position = text.last; position >= text.first; position--)
        places = this.#before(places, position, { bytes, offset, first })
      const start = places.length === 0 ? first : Math.min(...places)
      for (let one = start; one <= at; one++) if ((bytes[one] ?? 0) >= space) shown[one] = asterisk
    }
  }

  /** Where the character of a position may begin that ends at one of the places. */
  #before(
    places: readonly number[],
    position: number,
    { bytes, offset, first }: { bytes: Buffer; offset: number; first: number },
  ): readonly number[] {
    const found = new Set<number>()
    const ends = new Set(places)
    const take = (start: number, char: number): void => {
      if (start < first) return
      if (this.#pattern.isAt(position, char)) found.add(start)
      if (this.#pattern.isBetween(position, char)) ends.add(start)
    }
    for (const end of ends) {
      this.#work.steps++
      const char = end > first ? (classOf[bytes[end - 1] ?? 0] ?? 0) : otherClass
      if (char === 0) ends.add(end - 1)
      else take(end - 1, char)
      for (const one of this.#spelledUntil(offset + end)) take(one.start - offset, one.char)
    }
    return [...found]
  }

  #spelledUntil(end: number): Spelled[] {
    const first = this.#countSpelledBefore(end)
    let after = first
    while (this.#spelled[after]?.end === end) after++
    return this.#spelled.slice(first, after)
  }

  #countSpelledBefore(end: number): number {
    let [low, high] = [0, this.#spelled.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#spelled[middle]?.end ?? 0) < end) low = middle + 1
      else high = middle
    }
    return low
  }

  /** What ends before a piece, when that is more than half. */
  #forget(offset: number): void {
    const count = this.#countSpelledBefore(offset)
    if (count * 2 > this.#spelled.length) this.#spelled = this.#spelled.slice(count)
  }
}
