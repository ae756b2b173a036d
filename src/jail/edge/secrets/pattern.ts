/**
 * The texts of a notation as bits: each of their characters is a position, and a reader keeps one bit for each, which says
 * whether the text matches up to there (the Shift-And algorithm). Moving all bits on takes the same time whether or not
 * any of them is set, so the time depends on how long the values are, and not on how much of one has been read.
 */
import type { Notation } from './notations.ts'
import { classOf, fold, isOpening, softBreak } from './spellings.ts'

const wordBits = 32
const chars = 128
const lineBreaks = ['\n', '\r'].map((one) => one.charCodeAt(0))

export class Pattern {
  /** A position's word is the position modulo this, so that most bits move on to the same bit of the next word. */
  readonly words: number
  /** Where the bits of a character begin in `bits`. Characters outside of the alphabet share the first row, with none. */
  readonly rowOf = new Int32Array(chars)
  /** The positions of each character. */
  readonly bits: Int32Array
  /** The first and the last characters of texts. */
  readonly firsts: Int32Array
  readonly lasts: Int32Array
  /** The words that have some of them. */
  readonly firstWords: Int32Array
  readonly lastWords: Int32Array
  /** By character: the positions after which it may stand without being a part of the text. */
  readonly between: readonly (Int32Array | undefined)[]
  /** By byte: the row of its character if that can only stand for itself, otherwise -1. */
  readonly plainRowOf: Int32Array
  readonly #firstByLast = new Map<number, number>()

  constructor(values: readonly string[], notation: Notation) {
    const texts = values.flatMap((value) =>
      notation
        .write(value)
        .map((text) => ({ text: text.toLowerCase(), room: notation.lengthMax(value.length) })),
    )
    this.words = Math.ceil(texts.reduce((sum, { room }) => sum + room, 0) / wordBits)
    const alphabet = Array.from({ length: chars }, (_, code) => code).filter(
      (code) => fold(code) === code && notation.alphabet.test(String.fromCharCode(code)),
    )
    for (const [index, code] of alphabet.entries()) this.rowOf[code] = (index + 1) * this.words
    this.bits = new Int32Array((alphabet.length + 1) * this.words)
    this.firsts = new Int32Array(this.words)
    this.lasts = new Int32Array(this.words)
    const separators = new Int32Array(this.words)
    const inside = new Int32Array(this.words)
    let first = 0
    for (const { text, room } of texts) {
      const last = first + text.length - 1
      this.#set(this.firsts, first)
      this.#set(this.lasts, last)
      this.#firstByLast.set(last, first)
      for (const [index, char] of text.split('').entries()) {
        for (const one of `${char}${notation.alike?.[char] ?? ''}`)
          this.#set(this.bits, first + index, this.rowOf[one.charCodeAt(0)])
        if (index === text.length - 1) continue
        this.#set(inside, first + index)
        if (index % 2 === 1) this.#set(separators, first + index)
      }
      first += room
    }
    this.firstWords = Int32Array.from(this.firsts.keys().filter((word) => this.firsts[word] !== 0))
    this.lastWords = Int32Array.from(this.lasts.keys().filter((word) => this.lasts[word] !== 0))
    const between = Array.from<Int32Array | undefined>({ length: chars }).fill(undefined)
    between[softBreak] = inside
    if (notation.hasLines) for (const one of lineBreaks) between[one] = inside
    for (const one of notation.separators ?? '') between[one.charCodeAt(0)] = separators
    this.between = between
    this.plainRowOf = Int32Array.from(classOf, (char) =>
      char === 0 || between[char] !== undefined || isOpening(char) ? -1 : (this.rowOf[char] as number),
    )
  }

  #set(bits: Int32Array, position: number, row = 0): void {
    const at = row + (position % this.words)
    bits[at] = (bits[at] ?? 0) | (1 << Math.floor(position / this.words))
  }

  /** Whether the character may be in a text of the notation. */
  mayHave(char: number): boolean {
    return this.rowOf[char] !== 0 || this.between[char] !== undefined
  }

  /** Moves all positions of a set on with the character of a row. Returns whether a text has come to its end. */
  advance(set: Int32Array, row: number): boolean {
    const { words, bits } = this
    const wrapped = (set[words - 1] as number) << 1
    for (let word = words - 1; word > 0; word--)
      set[word] = (set[word - 1] as number) & (bits[row + word] as number)
    set[0] = wrapped & (bits[row] as number)
    this.#begin(set, row)
    return this.hasLast(set)
  }

  /** Adds to a set what comes after another one with a character. Returns how many words it has changed. */
  addNext(set: Int32Array, from: Int32Array, char: number): number {
    const { words, bits } = this
    const row = this.rowOf[char] as number
    set[0] = (set[0] as number) | (((from[words - 1] as number) << 1) & (bits[row] as number))
    for (let word = 1; word < words; word++)
      set[word] = (set[word] as number) | ((from[word - 1] as number) & (bits[row + word] as number))
    this.#begin(set, row)
    const kept = this.between[char]
    if (kept === undefined) return words
    for (let word = 0; word < words; word++)
      set[word] = (set[word] as number) | ((from[word] as number) & (kept[word] as number))
    return words * 2
  }

  #begin(set: Int32Array, row: number): void {
    for (let one = 0; one < this.firstWords.length; one++) {
      const word = this.firstWords[one] as number
      set[word] = (set[word] as number) | ((this.firsts[word] as number) & (this.bits[row + word] as number))
    }
  }

  /** Whether a text has come to its end. */
  hasLast(set: Int32Array): boolean {
    let ends = 0
    for (let one = 0; one < this.lastWords.length; one++) {
      const word = this.lastWords[one] as number
      ends |= (set[word] as number) & (this.lasts[word] as number)
    }
    return ends !== 0
  }

  isAt(position: number, char: number): boolean {
    return this.#has(this.bits, position, this.rowOf[char])
  }

  isBetween(position: number, char: number): boolean {
    const bits = this.between[char]
    return bits !== undefined && this.#has(bits, position)
  }

  #has(bits: Int32Array, position: number, row = 0): boolean {
    return (((bits[row + (position % this.words)] ?? 0) >>> Math.floor(position / this.words)) & 1) === 1
  }

  /** The texts that end with one of these bits: their first and last positions. */
  endingWith(bits: Int32Array): { readonly first: number; readonly last: number }[] {
    return [...this.#firstByLast]
      .filter(([last]) => this.#has(bits, last))
      .map(([last, first]) => ({ first, last }))
  }
}
