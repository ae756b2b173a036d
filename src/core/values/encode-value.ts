/**
 * The writing half of `values.ts`. It runs inside the guest process, after guest code: no getter, proxy or patched
 * built-in may make it throw or call anything but what the value itself holds, and its work is bounded by `maxBytes`.
 */
import { encodeNumber, encodeUnserializable } from './encode-leaf.ts'
import { Encoding } from './encode-walk.ts'
import type { Replace } from './encode-walk.ts'
import { JsonText, tooLarge } from './json-text.ts'
import { bytesLength, messageOf, utf8 } from '../primordials.ts'
import type { Steps } from '../steps.ts'
import { sliceText } from './text-slices.ts'

const bytesMaxDefault = 16 * 1024 * 1024
/** This many steps take some microseconds, unless one of them encodes a long text or many bytes. */
const stepsAtOnce = 64

export interface EncodeOptions {
  /** The encoded JSON may not be longer; a longer value is replaced as a whole. Default 16 MiB. */
  readonly maxBytes?: number
  /**
   * A value with more lists, objects and the like is replaced as a whole. No limit by default, because `maxBytes`
   * bounds them, too.
   */
  readonly objectsMax?: number
  /** Returns what is written instead of a value. */
  readonly replace?: Replace
}

export interface EncodedJson {
  readonly json: string
  /** Whether something was left out: the whole value because of its size, or a part because of its depth. */
  readonly truncated: boolean
}

/** Encodes `value` as JSON text in the tagged format of `values.ts`. Never throws. */
export function encodeValueToJson(value: unknown, options: EncodeOptions = {}): EncodedJson {
  const small = options.replace === undefined ? encodeSmall(value) : undefined
  if (small !== undefined && small.length <= (options.maxBytes ?? bytesMaxDefault))
    return { json: small, truncated: false }
  const work = new DocumentEncoding(value, options)
  while (!work.advance(stepsAtOnce));
  const measuring = work.measure()
  let step = measuring.next()
  while (step.done !== true) step = measuring.next()
  return step.value
}

/**
 * Many results are one small value, and the first use of the whole encoder in a process takes tenths of a millisecond.
 */
function encodeSmall(value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return encodeNumber(value)
    case 'boolean':
      return value ? 'true' : 'false'
    default:
      return undefined
  }
}

/** The same in parts, for a process that has other work in between. */
export function* encodeSteps(value: unknown, options: EncodeOptions = {}): Steps<EncodedJson> {
  const work = new DocumentEncoding(value, options)
  while (!work.advance(stepsAtOnce)) yield
  yield
  return yield* work.measure()
}

class DocumentEncoding {
  readonly #value: unknown
  readonly #maxBytes: number
  readonly #text: JsonText
  readonly #encoding: Encoding
  #hasBegun = false
  #failure: string | undefined

  constructor(value: unknown, { maxBytes = bytesMaxDefault, objectsMax = maxBytes, replace }: EncodeOptions) {
    this.#value = value
    this.#maxBytes = maxBytes
    this.#text = new JsonText(maxBytes)
    this.#encoding = new Encoding(this.#text, objectsMax, replace)
  }

  /** Returns whether everything is written. */
  advance(steps: number): boolean {
    try {
      if (!this.#hasBegun) this.#encoding.begin(this.#value)
      this.#hasBegun = true
      return this.#encoding.advance(steps)
    } catch (thrown) {
      this.#failure = thrown === tooLarge ? this.#tooLarge : `[cannot be encoded: ${messageOf(thrown)}]`
      return true
    }
  }

  *measure(): Steps<EncodedJson> {
    if (this.#failure !== undefined) return { json: encodeUnserializable(this.#failure), truncated: true }
    const json = this.#text.whole
    // No character takes more than three bytes for each of its UTF-16 units.
    let left = json.length * 3 <= this.#maxBytes ? 0 : this.#maxBytes
    for (let at = 0; left > 0 && at < json.length; yield) {
      const { text, end } = sliceText(json, at)
      left -= bytesLength(utf8(text))
      at = end
    }
    if (left >= 0) return { json, truncated: this.#encoding.isCut }
    return { json: encodeUnserializable(this.#tooLarge), truncated: true }
  }

  get #tooLarge(): string {
    return `[larger than ${this.#maxBytes} bytes]`
  }
}
