/**
 * Frames on the launcher's sockets: `u32 length, u8 type, u32 id, payload`, little-endian.
 * The same numbers as in native/cell/frames.h; a test compares the two.
 */
export const frameHeaderBytes = 9
export const frameBytesMax = 1 << 20
/** How many bytes may wait in the cell for a guest's standard input, and the same number for its channel. */
export const inletCreditBytes = 64 * 1024

export const frameType = {
  plan: 1,
  spawn: 2,
  stdin: 3,
  stdinEnd: 4,
  signal: 5,
  put: 6,
  end: 7,
  killAll: 8,
  nursery: 9,
  greeting: 10,
  kill: 11,
  begin: 12,
  finish: 13,
  killTree: 14,
  resize: 15,
  hold: 16,
  channel: 17,
  channelEnd: 18,
  channelClose: 19,
  ready: 64,
  spawned: 65,
  output: 66,
  exit: 67,
  fault: 68,
  exceeded: 69,
  stdinTaken: 70,
  usage: 71,
  alone: 72,
  channelTaken: 73,
  born: 80,
  gone: 81,
  started: 88,
  reaped: 89,
  barren: 90,
} as const

/** The streams that a HOLD frame leaves unread, as bits. */
export const held = { output: 1, channel: 2 } as const

export interface Frame {
  readonly type: number
  readonly id: number
  readonly payload: Buffer
}

const nothing = Buffer.alloc(0)
const beyondU32 = 2 ** 32

export function encodeFrame(type: number, id: number, payload: Uint8Array = nothing): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + payload.length)
  frame.writeUInt32LE(payload.length, 0)
  frame.writeUInt8(type, 4)
  frame.writeUInt32LE(id, 5)
  frame.set(payload, frameHeaderBytes)
  return frame
}

/** Cuts a stream of bytes into frames. Bounded: a frame longer than `frameBytesMax` throws. */
export class FrameDecoder {
  #rest: Buffer = nothing

  /** The frames that are complete after `chunk`. Their payloads are views: copy what is kept. */
  push(chunk: Buffer): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk])
    const frames: Frame[] = []
    let at = 0
    while (bytes.length - at >= frameHeaderBytes) {
      const length = bytes.readUInt32LE(at)
      if (length > frameBytesMax)
        throw new Error(`A frame of ${length} bytes arrived; ${frameBytesMax} is the most.`)
      const end = at + frameHeaderBytes + length
      if (end > bytes.length) break
      frames.push({
        type: bytes.readUInt8(at + 4),
        id: bytes.readUInt32LE(at + 5),
        payload: bytes.subarray(at + frameHeaderBytes, end),
      })
      at = end
    }
    // An empty view would keep up to 64 KiB alive for as long as the stream lasts.
    this.#rest = at === bytes.length ? nothing : bytes.subarray(at)
    return frames
  }
}

/** Builds a payload: the writing half of the launcher's `take_*` functions. Grows by doubling. */
export class PayloadWriter {
  #bytes: Buffer
  #used = 0

  constructor(usualBytes = 512) {
    this.#bytes = Buffer.allocUnsafe(usualBytes)
  }

  u32(value: number): this {
    this.#used = this.#room(4).writeUInt32LE(value, this.#used)
    return this
  }

  u64(value: number | bigint): this {
    if (typeof value === 'number' && Number.isSafeInteger(value))
      return this.u32(value % beyondU32).u32(Math.floor(value / beyondU32))
    this.#used = this.#room(8).writeBigUInt64LE(BigInt(value), this.#used)
    return this
  }

  /** Length-prefixed bytes. */
  bytes(value: Uint8Array): this {
    return this.u32(value.length).raw(value)
  }

  /** Bytes as they are. */
  raw(value: Uint8Array): this {
    this.#room(value.length).set(value, this.#used)
    this.#used += value.length
    return this
  }

  /** What `write` adds, with its length before it. */
  sized(write: (payload: this) => void): this {
    const start = this.u32(0).#used
    write(this)
    this.#bytes.writeUInt32LE(this.#used - start, start - 4)
    return this
  }

  /** A length-prefixed, NUL-terminated string. Throws on a NUL inside. */
  string(value: string): this {
    if (value.includes('\0'))
      throw new RangeError('A string with a NUL character cannot cross into the cell.')
    const length = Buffer.byteLength(value)
    this.u32(length + 1)
    this.#used += this.#room(length + 1).write(value, this.#used, 'utf8')
    this.#used = this.#bytes.writeUInt8(0, this.#used)
    return this
  }

  finish(): Buffer {
    return this.#bytes.subarray(0, this.#used)
  }

  #room(length: number): Buffer {
    const needed = this.#used + length
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2))
      this.#bytes.copy(larger, 0, 0, this.#used)
      this.#bytes = larger
    }
    return this.#bytes
  }
}
