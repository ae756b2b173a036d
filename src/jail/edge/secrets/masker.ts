/**
 * Hides texts in a stream, whatever the pieces in which they come. A hidden text is replaced by as many asterisks, so that
 * lengths stay true. Capital and small letters are the same: servers change them.
 */
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'

const asterisk = 0x2a

export class Masker {
  readonly #hidden: readonly string[]
  /** What may be the begin of a hidden text: as it came, and as it is shown. */
  #seen = ''
  #shown: Buffer = Buffer.alloc(0)

  constructor(hidden: readonly string[]) {
    this.#hidden = hidden.map((text) => text.toLowerCase())
  }

  /** What can be shown by now. */
  push(bytes: Buffer): Buffer {
    const seen = this.#seen + bytes.toString('latin1').toLowerCase()
    const shown = Buffer.concat([this.#shown, bytes])
    for (const text of this.#hidden)
      for (let at = seen.indexOf(text); at !== -1; at = seen.indexOf(text, at + 1))
        shown.fill(asterisk, at, at + text.length)
    const kept = Math.max(0, ...this.#hidden.map((text) => beginsAtEnd(seen, text)))
    this.#seen = seen.slice(seen.length - kept)
    this.#shown = shown.subarray(shown.length - kept)
    return shown.subarray(0, shown.length - kept)
  }

  /** What is left when nothing more comes. */
  end(): Buffer {
    return this.#shown
  }
}

/** How many characters at the end may become this text. */
function beginsAtEnd(seen: string, text: string): number {
  for (let length = Math.min(text.length - 1, seen.length); length > 0; length--)
    if (text.startsWith(seen.slice(seen.length - length))) return length
  return 0
}

/** A short text that is all there. */
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
