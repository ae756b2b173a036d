/**
 * Finds values in what a server sends, in whatever way a library writes them: the value itself, and its bytes in base64,
 * base32, hexadecimal or as numbers; each of these texts with its characters in any of their spellings.
 *
 * An automaton reads each byte once. Its states are made when they are first needed: usual answers need few, and a byte
 * takes the same time however many values there are.
 */
import { fold, read, softBreak } from './spellings.ts'

const asterisk = '*'.charCodeAt(0)
const space = ' '.charCodeAt(0)
const newline = '\n'.charCodeAt(0)
const carriageReturn = '\r'.charCodeAt(0)

const alphanumeric = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const alphabets = [`${alphanumeric}+/`, `${alphanumeric}-_`, 'abcdefghijklmnopqrstuvwxyz234567']
/** Between the bytes of hexadecimal. */
const separators = ['', ':', '-']

/**
 * How many bytes may stand for one character of a value. Every character as an entity that is percent-encoded, or as an
 * entity of an entity, takes fewer.
 */
const bytesPerCharacter = 18
/**
 * With more, all are made anew: only hostile answers need so many. Their table takes 1 MiB, and four more for values of
 * 4096 characters, each of which has states of its own.
 */
const statesMax = 4096
const statesPerCharacter = 4
const positionsMax = 256 * 1024
/** How far back the first character of a text may begin, with the longest name of HTML percent-encoded. */
const firstBytesMax = 64
/** Bytes that are in no text and in no spelling are of one class. */
const otherClass = 0x7f
const classBits = 7
const classOf = Uint8Array.from({ length: 256 }, (_, byte) => (byte < otherClass ? fold(byte) : otherClass))

/** Where a reader may be. */
export interface State {
  readonly key: string
  /** Each of them: which character of which text comes next, and how much of its spelling has been read. */
  readonly positions: readonly number[]
  /** Whether a text may also begin with the next byte. */
  readonly isSearching: boolean
}

const nowhere = stateOf([], false)
const searching = stateOf([0], true)
/** Of a text that begins with the next byte and no later. */
const beginning = stateOf([0], false)
const firstStates = [nowhere, searching, beginning]
const [nowhereId, beginningId] = [1, 3]

export class HiddenValues {
  /** How many bytes at the end of a piece may belong to a value that continues in the next one. */
  readonly heldMax: number
  readonly hasSpace: boolean
  /** All texts to look for, in lower case, with a 0 before and after each. */
  readonly #texts: Uint8Array
  /** Lines may be broken in the texts from here on. */
  readonly #wrappedFrom: number
  /** By first character: where such texts go on. */
  readonly #seconds: readonly number[][] = Array.from({ length: 1 << classBits }, () => [])
  #states: (State | undefined)[] = []
  #positions = 0
  readonly #ids = new Map<string, number>()
  /** By state and class of the next byte: the next state, negative if a text ends there, 0 if it is not known yet. */
  readonly #next: Int16Array
  readonly #statesMax: number
  /** By state: 1 if no text has been read further than into its first character. */
  readonly #isFresh: Uint8Array

  constructor(values: readonly string[]) {
    this.heldMax = Math.max(0, ...values.map((value) => value.length * bytesPerCharacter - 1))
    this.#statesMax = statesMax + statesPerCharacter * Math.max(0, ...values.map(({ length }) => length))
    this.#next = new Int16Array(this.#statesMax << classBits)
    this.#isFresh = new Uint8Array(this.#statesMax)
    this.hasSpace = values.some((value) => value.includes(' '))
    const plain = values.flatMap((value) => [value, Buffer.from(value, 'latin1').join(',')])
    this.#texts = Buffer.from(
      `\0${[...plain, ...values.flatMap(codesOf), ''].join('\0')}`.toLowerCase(),
      'latin1',
    )
    this.#wrappedFrom = plain.join('\0').length + 2
    for (let at = 1; at < this.#texts.length - 1; at++)
      if (this.#texts[at - 1] === 0) this.#seconds[this.#texts[at] ?? 0]?.push(at + 1)
    this.#forget()
  }

  /** Reads `bytes` from a place on, and writes asterisks over texts in `shown`, which has the same length. */
  cover(bytes: Buffer, shown: Buffer, from = 0, before = searching): State {
    const known = this.#next
    const isFresh = this.#isFresh
    let id = this.#idOf(before)
    // Where the last fresh state was.
    let fresh = 0
    for (let at = from; at < bytes.length; at++) {
      const char = classOf[bytes[at] ?? 0] ?? 0
      const next = known[(id << classBits) | char] || this.#learn(id, char)
      id = next
      if (next > 0) {
        if (isFresh[next] === 1) fresh = at
        continue
      }
      const state = this.#states[-next] ?? searching
      const start = this.#startOf(bytes, Math.max(0, fresh - firstBytesMax, at - this.heldMax), at + 1)
      for (let one = start; one <= at; one++) if ((bytes[one] ?? 0) >= space) shown[one] = asterisk
      id = this.#idOf(state)
    }
    return this.#states[id] ?? searching
  }

  /** The earliest start of a text that ends before `end`. If it is not here any more, all that is here belongs to it. */
  #startOf(bytes: Buffer, first: number, end: number): number {
    for (let start = first; start < end; start++) if (this.#reaches(end, bytes, start)) return start
    return first
  }

  #reaches(end: number, bytes: Buffer, start: number): boolean {
    const known = this.#next
    let id = beginningId
    for (let at = start; at < end; at++) {
      const char = classOf[bytes[at] ?? 0] ?? 0
      const next = known[(id << classBits) | char] || this.#learn(id, char)
      if (next === nowhereId) return false
      if (next < 0 && at === end - 1) return true
      id = Math.abs(next)
    }
    return false
  }

  #learn(id: number, char: number): number {
    const state = this.#states[id] ?? nowhere
    if (this.#states.length === this.#statesMax || this.#positions > positionsMax) this.#forget()
    const { isEnd, after } = this.#advance(state, char)
    const next = this.#idOf(after) * (isEnd ? -1 : 1)
    this.#next[(this.#idOf(state) << classBits) | char] = next
    return next
  }

  #forget(): void {
    this.#next.fill(0)
    this.#ids.clear()
    this.#states = [undefined]
    this.#positions = 0
    for (const state of firstStates) this.#idOf(state)
  }

  #idOf(state: State): number {
    const known = this.#ids.get(state.key)
    if (known !== undefined) return known
    const id = this.#states.push(state) - 1
    this.#ids.set(state.key, id)
    this.#isFresh[id] = Number(state.positions.every((position) => position % this.#texts.length === 0))
    this.#positions += state.positions.length
    return id
  }

  #advance(state: State, char: number): { isEnd: boolean; after: State } {
    // A part of a character in UTF-16 or UTF-32.
    if (char === 0) return { isEnd: false, after: state }
    const after = new Set<number>(state.isSearching ? [0] : [])
    let isEnd = false
    const { length } = this.#texts
    for (const position of state.positions) {
      const at = position % length
      for (const { within, char: whole } of read(Math.floor(position / length), char)) {
        if (whole === undefined) after.add(within * length + at)
        else if (at === 0) for (const second of this.#seconds[whole] ?? []) after.add(second)
        else if (this.#texts[at] === whole)
          if (this.#texts[at + 1] === 0) isEnd = true
          else after.add(at + 1)
        else if (this.#isBreak(whole, at)) after.add(at)
      }
    }
    return {
      isEnd,
      after: stateOf(
        [...after].toSorted((a, b) => a - b),
        state.isSearching,
      ),
    }
  }

  #isBreak(char: number, at: number): boolean {
    return char === softBreak || (at >= this.#wrappedFrom && (char === newline || char === carriageReturn))
  }
}

function stateOf(positions: readonly number[], isSearching: boolean): State {
  return { key: `${isSearching} ${positions.join(' ')}`, positions, isSearching }
}

/** The ways to write the bytes of a value in which lines may be broken. */
function codesOf(value: string): string[] {
  const bytes = Buffer.from(value, 'latin1')
  const hex = separators.map((one) => bytes.toString('hex').replaceAll(/..(?!$)/g, `$&${one}`))
  return [...hex, ...new Set(alphabets.flatMap((alphabet) => digitsOf(bytes, alphabet)))]
}

/**
 * Bytes as digits of a few bits each, at every alignment with the bytes before them, without the digits at both ends that
 * also depend on the neighbouring bytes.
 */
function digitsOf(bytes: Buffer, alphabet: string): string[] {
  const width = Math.log2(alphabet.length)
  const skipped = new Set(
    Array.from({ length: width }, (_, before) => (width - ((before * 8) % width)) % width),
  )
  return [...skipped].map((first) => {
    let digits = ''
    for (let bit = first; bit + width <= bytes.length * 8; bit += width) {
      const two = ((bytes[bit >> 3] ?? 0) << 8) | (bytes[(bit >> 3) + 1] ?? 0)
      digits += alphabet[(two >> (16 - (bit % 8) - width)) % alphabet.length] ?? ''
    }
    return digits
  })
}
