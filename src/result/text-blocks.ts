/** Decodes bytes a block at a time: the engine is slow with invalid UTF-8, and the event loop has to run in between. */
import { StringDecoder } from 'node:string_decoder'

import type { Steps } from '../core/steps.ts'

const blockBytesMin = 1024
/** The engine takes a millisecond to decode this many bytes of invalid UTF-8. */
const blockBytesMax = 128 * 1024
const nothing = Buffer.alloc(0)

/**
 * Decodes bytes block by block while they arrive: decoding ten megabytes of invalid UTF-8 at the end of a run would
 * block the event loop. A guest that writes one byte at a time must not cost the host a string for each.
 */
export class TextBlocks {
  /** Created with the first byte: most streams of most runs have none. */
  #decoder: StringDecoder | undefined
  readonly #pieces: string[] = []
  #block: Buffer = nothing
  #used = 0

  /** All of it, once; nothing can be added afterwards. */
  end(): string {
    if (this.#decoder === undefined) return ''
    return (
      this.#pieces.join('') + this.#decoder.write(this.#block.subarray(0, this.#used)) + this.#decoder.end()
    )
  }

  add(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0;) {
      if (this.#used === this.#block.length) this.#begin(rest.length)
      const taken = rest.copy(this.#block, this.#used)
      this.#used += taken
      rest = rest.subarray(taken)
    }
  }

  #begin(bytes: number): void {
    this.#decoder ??= new StringDecoder('utf8')
    this.#pieces.push(this.#decoder.write(this.#block))
    const size = Math.min(Math.max(bytes, 2 * this.#block.length, blockBytesMin), blockBytesMax)
    // The decoder has copied what was there.
    if (size > this.#block.length) this.#block = Buffer.allocUnsafeSlow(size)
    this.#used = 0
  }
}

/** The same for bytes that are complete, one block per step. */
export function* decodeInBlocks(bytes: Buffer, encoding: 'utf8' | 'base64'): Steps<string> {
  const decoder = new StringDecoder(encoding)
  let text = ''
  for (let at = 0; at < bytes.length; at += blockBytesMax) {
    text += decoder.write(bytes.subarray(at, at + blockBytesMax))
    yield
  }
  return text + decoder.end()
}
