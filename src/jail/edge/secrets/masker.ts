/**
 * Hides texts in a stream, however they are split into pieces. Asterisks replace a hidden text, one for each character, so
 * that lengths stay the same. Case is ignored, because servers change it.
 */
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'

const asterisk = 0x2a
const space = 0x20
const tilde = 0x7e

export class Masker {
  readonly #hidden: readonly string[]
  readonly #longest: number
  readonly #firstHeld: number
  /** What may be the beginning of a hidden text: as it arrived, and as it is shown. */
  #seen = ''
  #shown: Buffer = Buffer.alloc(0)

  constructor(hidden: readonly string[]) {
    this.#hidden = hidden.map((text) => text.toLowerCase())
    this.#longest = Math.max(0, ...hidden.map((text) => text.length))
    this.#firstHeld = hidden.some((text) => text.includes(' ')) ? space : space + 1
  }

  /** Returns the bytes that can already be shown. */
  push(bytes: Buffer): Buffer {
    const held = this.#seen.length
    const seen = this.#seen + bytes.toString('latin1').toLowerCase()
    const shown = Buffer.concat([this.#shown, bytes])
    for (const text of this.#hidden) cover(text, { seen, shown, from: Math.max(0, held - text.length + 1) })
    const kept = this.#countHeld(bytes, held)
    this.#seen = seen.slice(seen.length - kept)
    this.#shown = shown.subarray(shown.length - kept)
    return shown.subarray(0, shown.length - kept)
  }

  /**
   * How many characters at the end are held back: the whole last word, whether or not a hidden text begins like it.
   * Otherwise a guest could make a server echo guesses, see which ones are held back, and find a secret letter by letter.
   */
  #countHeld(bytes: Buffer, heldBefore: number): number {
    const most = Math.max(0, this.#longest - 1)
    let count = 0
    while (count < most && count < bytes.length && this.#isHeld(bytes[bytes.length - 1 - count])) count++
    return count === bytes.length ? Math.min(most, count + heldBefore) : count
  }

  #isHeld(byte = 0): boolean {
    return byte >= this.#firstHeld && byte <= tilde
  }

  /** Returns the held bytes when nothing more comes. The next bytes begin a new text. */
  end(): Buffer {
    const shown = this.#shown
    this.#seen = ''
    this.#shown = Buffer.alloc(0)
    return shown
  }
}

interface Place {
  readonly seen: string
  readonly shown: Buffer
  readonly from: number
}

function cover(text: string, { seen, shown, from }: Place): void {
  for (let at = seen.indexOf(text, from); at !== -1; at = seen.indexOf(text, at + 1))
    shown.fill(asterisk, at, at + text.length)
}

/** Masks a short text that is complete. */
export function maskText(text: string, hidden: readonly string[]): string {
  const masker = new Masker(hidden)
  const shown = masker.push(Buffer.from(text, 'latin1'))
  return Buffer.concat([shown, masker.end()]).toString('latin1')
}

export class MaskingStream extends Transform {
  readonly #masker: Masker

  constructor(hidden: readonly string[]) {
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
