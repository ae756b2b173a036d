/**
 * Parses JSON as `JSON.parse` does, but in steps, so that a message of megabytes does not block the event loop.
 */
import { knownKeysMin, rememberKeys } from '../../core/known-keys.ts'

export interface JsonBounds {
  readonly levelsMax: number
  /** The most items of one list. The engine copies a whole list when it grows. */
  readonly itemsMax: number
}

/** Thrown for a text that exceeds the bounds, although it may be valid JSON. */
export class TooCostly extends Error {}

interface Container {
  readonly live: unknown[] | Record<string, unknown>
  /** The keys of an object so far. */
  readonly keys: string[]
  key: string
}

interface BegunString {
  readonly pieces: string[]
  readonly isKey: boolean
}

const noKeys: string[] = []
const parse = JSON.parse as (json: string) => unknown
const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]
/** Longer strings are read in pieces. */
const pieceLength = 16 * 1024
/** Longer strings are copied with JSON.parse, because a slice would keep the whole text in memory. V8 copies shorter ones. */
const sliceLengthMax = 12
const literalLengthMax = 4096

export class JsonReader {
  /** The value, when everything has been read. */
  value: unknown
  readonly #text: string
  readonly #bounds: JsonBounds
  readonly #open: Container[] = []
  #at = 0
  #string: BegunString | undefined
  #isDone = false
  /** The start and the end of each field of the outermost object in the text. */
  readonly #spans = new Map<string, { readonly start: number; end: number }>()

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text
    this.#bounds = bounds
  }

  /** The text of a field of the outermost object. */
  textOf(key: string): string {
    const { start = 0, end = 0 } = this.#spans.get(key) ?? {}
    return this.#text.slice(start, end)
  }

  /** Takes some steps, and returns whether everything has been read. Throws SyntaxError and TooCostly. */
  advance(steps: number): boolean {
    for (let step = 0; step < steps && !this.#isDone; step++) {
      if (this.#string !== undefined) this.#continueString(this.#string)
      else this.#beginValue()
    }
    return this.#isDone
  }

  #beginValue(): void {
    const code = this.#skipSpace()
    if (code === openList || code === openObject) this.#openContainer(code)
    else if (code === quote) this.#beginString(false)
    else this.#literal()
  }

  #openContainer(code: number): void {
    if (this.#open.length >= this.#bounds.levelsMax) throw new TooCostly()
    const live = code === openList ? [] : {}
    this.#put(live)
    this.#open.push({ live, keys: code === openList ? noKeys : [], key: '' })
    this.#at++
    const next = this.#skipSpace()
    if (next === (code === openList ? closeList : closeObject)) this.#close()
    else if (code === openObject) this.#beginString(true)
  }

  #close(): void {
    this.#at++
    this.#open.pop()
    this.#end()
  }

  /** Called when a value is complete. */
  #end(): void {
    for (;;) {
      const container = this.#open.at(-1)
      const code = this.#skipSpace()
      if (container === undefined) {
        if (this.#at < this.#text.length) throw new SyntaxError()
        this.#isDone = true
        return
      }
      const isList = Array.isArray(container.live)
      if (this.#open.length === 1) this.#noteEnd(container.key)
      if (code === comma) {
        this.#at++
        if (isList) return
        this.#skipSpace()
        this.#beginString(true)
        return
      }
      if (code !== (isList ? closeList : closeObject)) throw new SyntaxError()
      this.#at++
      this.#open.pop()
      if (container.keys.length >= knownKeysMin) rememberKeys(container.live, container.keys)
    }
  }

  #literal(): void {
    const start = this.#at
    while (this.#at < this.#text.length && !isDelimiter(this.#text.charCodeAt(this.#at))) this.#at++
    if (this.#at - start > literalLengthMax) throw new TooCostly()
    this.#put(parse(this.#text.slice(start, this.#at)))
    this.#end()
  }

  #beginString(isKey: boolean): void {
    if (this.#text.charCodeAt(this.#at) !== quote) throw new SyntaxError()
    this.#at++
    this.#string = { pieces: [], isKey }
    this.#continueString(this.#string)
  }

  /** Splits between escapes. A surrogate pair that is split is whole again when the pieces are joined. */
  #continueString(string: BegunString): void {
    const start = this.#at
    const end = start + pieceLength
    let isPlain = true
    while (this.#at < end) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === quote) {
        const piece = this.#piece(start, isPlain)
        this.#at++
        this.#string = undefined
        this.#endString(string.pieces.length === 0 ? piece : [...string.pieces, piece].join(''), string.isKey)
        return
      }
      // Also true at the end of the text, where the code is NaN.
      if (!(code >= 0x20)) throw new SyntaxError()
      if (code === backslash) isPlain = false
      this.#at += code === backslash ? (this.#text.charCodeAt(this.#at + 1) === 0x75 ? 6 : 2) : 1
    }
    string.pieces.push(this.#piece(start, isPlain))
  }

  #piece(start: number, isPlain: boolean): string {
    const piece = this.#text.slice(start, this.#at)
    return isPlain && piece.length <= sliceLengthMax ? piece : (parse(`"${piece}"`) as string)
  }

  #endString(text: string, isKey: boolean): void {
    if (!isKey) {
      this.#put(text)
      this.#end()
      return
    }
    const container = this.#open.at(-1)
    if (container !== undefined) container.key = text
    if (this.#skipSpace() !== colon) throw new SyntaxError()
    this.#at++
    if (this.#open.length === 1) this.#spans.set(text, { start: this.#at, end: this.#at })
  }

  #noteEnd(key: string): void {
    const span = this.#spans.get(key)
    if (span !== undefined) span.end = this.#at
  }

  #put(value: unknown): void {
    const container = this.#open.at(-1)
    if (container === undefined) this.value = value
    else if (Array.isArray(container.live)) {
      if (container.live.push(value) > this.#bounds.itemsMax) throw new TooCostly()
    } else putField(container.live, container, value)
  }

  #skipSpace(): number {
    for (;;) {
      const code = this.#text.charCodeAt(this.#at)
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code
      this.#at++
    }
  }
}

function putField(live: Record<string, unknown>, { key, keys }: Container, value: unknown): void {
  if (!Object.hasOwn(live, key)) keys.push(key)
  // For an inherited key, an assignment could run a setter (`__proto__`), and fails if the host has frozen Object.prototype.
  if (key in live)
    Object.defineProperty(live, key, { value, writable: true, enumerable: true, configurable: true })
  else live[key] = value
}

function isDelimiter(code: number): boolean {
  return code === comma || code === closeList || code === closeObject || code <= 0x20
}
