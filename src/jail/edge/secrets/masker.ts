/**
 * Hides values in a stream, however it is split into pieces. Asterisks replace what is hidden, one for each character, so
 * that lengths stay the same.
 */
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'

import type { Cover, HiddenValues } from './hidden-values.ts'

const nul = 0
const newline = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const equals = 0x3d
const tilde = 0x7e
/** Lines of base64 and hexadecimal are at least this long, apart from the last one. */
const lineMin = 56

export class Masker {
  readonly #hidden: HiddenValues
  readonly #firstHeld: number
  /** What may be a part of a hidden value: as it arrived, and as it is shown. */
  #seen: Buffer = Buffer.alloc(0)
  #shown: Buffer = this.#seen
  #cover: Cover

  constructor(hidden: HiddenValues) {
    this.#hidden = hidden
    this.#cover = hidden.open()
    this.#firstHeld = hidden.hasSpace ? space : space + 1
  }

  /** Returns the bytes that can already be shown. */
  push(bytes: Buffer): Buffer {
    const heldBefore = this.#seen.length
    const seen = Buffer.concat([this.#seen, bytes])
    const shown = Buffer.concat([this.#shown, bytes])
    this.#cover.cover(seen, shown, heldBefore)
    const from = seen.length - this.#countHeld(seen, heldBefore)
    this.#seen = seen.subarray(from)
    this.#shown = shown.subarray(from)
    return shown.subarray(0, from)
  }

  /**
   * How many bytes at the end are held back: the whole last word, whether or not a hidden value begins like it. Otherwise
   * a guest could make a server echo guesses, see which ones are held back, and find a secret letter by letter.
   */
  #countHeld(bytes: Buffer, heldBefore: number): number {
    const most = Math.min(this.#hidden.heldMax, bytes.length)
    let count = 0
    while (count < most && bytes.length - count > heldBefore && this.#isHeld(bytes, bytes.length - 1 - count))
      count++
    return bytes.length - count === heldBefore ? most : count
  }

  #isHeld(bytes: Buffer, at: number): boolean {
    const byte = bytes[at] ?? 0
    if (byte === newline || byte === carriageReturn) return isInside(bytes, at)
    return byte === nul || (byte >= this.#firstHeld && byte <= tilde)
  }

  /** Returns the held bytes when nothing more comes. The next bytes begin a new text. */
  end(): Buffer {
    const shown = this.#shown
    this.#seen = this.#shown = Buffer.alloc(0)
    this.#cover = this.#hidden.open()
    return shown
  }
}

/** Whether a line break may be inside of a text: after `=` in quoted-printable, and after a long line of base64. */
function isInside(bytes: Buffer, at: number): boolean {
  const end = bytes[at] === newline && bytes[at - 1] === carriageReturn ? at - 1 : at
  return bytes[end - 1] === equals || (end >= lineMin && isCode(bytes.subarray(end - lineMin, end)))
}

const isCode = (line: Buffer): boolean => /^[\w+/:-]+$/.test(line.toString('latin1'))

/** Masks a short text that is complete. */
export function maskText(text: string, hidden: HiddenValues): string {
  const bytes = Buffer.from(text, 'latin1')
  const shown = Buffer.from(bytes)
  hidden.open().cover(bytes, shown)
  return shown.toString('latin1')
}

export class MaskingStream extends Transform {
  readonly #masker: Masker

  constructor(hidden: HiddenValues) {
    super()
    this.#masker = new Masker(hidden)
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, this.#masker.push(bytes))
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#masker.end())
  }
}
