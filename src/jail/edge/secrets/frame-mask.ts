/**
 * Hides texts in what a server sends over a WebSocket (RFC 6455, section 5.2). The end of a frame is passed on at once,
 * because a hidden text cannot continue in the same frame.
 */
import { Transform } from 'node:stream'
import type { TransformCallback } from 'node:stream'

import type { HiddenValues } from './hidden-values.ts'
import { Masker } from './masker.ts'

const shortLengthMax = 125
const maskBit = 0x80
/** Set by extensions, such as compression. */
const reservedBits = 0x70

export class FrameMaskingStream extends Transform {
  readonly #masker: Masker
  /** The first bytes of a frame whose length is not known yet. */
  #head: Buffer = Buffer.alloc(0)
  #payloadLeft = 0

  constructor(hidden: HiddenValues) {
    super()
    this.#masker = new Masker(hidden)
  }

  override _transform(bytes: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    try {
      let rest = Buffer.concat([this.#head, bytes])
      this.#head = Buffer.alloc(0)
      while (rest.length > 0) rest = rest.subarray(this.#take(rest))
      done()
    } catch (error) {
      done(error as Error)
    }
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#masker.end())
  }

  /** Returns how many bytes it took. */
  #take(bytes: Buffer): number {
    if (this.#payloadLeft === 0) return this.#takeHead(bytes)
    const part = bytes.subarray(0, this.#payloadLeft)
    this.#payloadLeft -= part.length
    this.push(this.#masker.push(part))
    if (this.#payloadLeft === 0) this.push(this.#masker.end())
    return part.length
  }

  #takeHead(bytes: Buffer): number {
    const length = headLength(bytes)
    if (length === undefined || bytes.length < length) {
      this.#head = bytes
      return bytes.length
    }
    this.#payloadLeft = payloadLength(bytes, length)
    this.push(bytes.subarray(0, length))
    return length
  }
}

/** Throws for a frame whose payload is masked or compressed: servers must not do that, and nothing could be found in it. */
function headLength(bytes: Buffer): number | undefined {
  const [first = 0, second] = bytes
  if (second === undefined) return undefined
  if ((first & reservedBits) !== 0 || (second & maskBit) !== 0) throw new Error('A frame cannot be read.')
  if (second <= shortLengthMax) return 2
  return second === shortLengthMax + 1 ? 4 : 10
}

function payloadLength(bytes: Buffer, headBytes: number): number {
  if (headBytes === 2) return bytes.readUInt8(1)
  return headBytes === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
}
