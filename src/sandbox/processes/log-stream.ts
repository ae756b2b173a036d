/**
 * One stream of a log: its last part, as bytes outside of the engine's heap. They stand in blocks, each piece behind a
 * header with its order and time. Blocks are dropped whole, the oldest first.
 */
import type { Steps } from '../../core/steps.ts'

/** How much is kept; older output is dropped. */
export const keptBytesMax = 1024 * 1024
const blockBytes = { least: 1024, most: 64 * 1024 }
/** The number, the length and the time of a piece, in 6, 4 and 8 bytes. */
const headerBytes = 18
/** Bytes that follow each other this fast are one piece: a process may print single bytes. */
const joinMs = 1

/** What arrived together, or nearly. */
export interface Piece {
  /** Its place among the pieces of both streams, by arrival. */
  readonly number: number
  readonly bytes: Buffer
  /** Where in the stream it ends. */
  readonly end: number
  readonly atMs: number
}

interface Block {
  readonly buffer: Buffer
  /** With the headers. */
  used: number
  /** Where the header of its last piece is. */
  last: number
  /** Where in the stream its first byte stands, and how many follow without a gap. */
  readonly start: number
  length: number
}

export interface LogStreamParts {
  /** The number of the newest piece of both streams; counts up for a new one. */
  readonly order: { newest: number }
  /** Reserves room for a block. Returns false if there is none. */
  readonly reserve: (bytes: number) => boolean
  readonly giveBack: (bytes: number) => void
}

export class LogStream {
  readonly #parts: LogStreamParts
  #blocks: Block[] = []
  #bytes = 0
  #end = 0
  #isComplete = true
  /** The last block, unless nothing follows. */
  #filling: Block | undefined

  constructor(parts: LogStreamParts) {
    this.#parts = parts
  }

  /** The memory that its blocks take. */
  get bytes(): number {
    return this.#bytes
  }

  /** How long the whole stream is, with what was dropped. */
  get end(): number {
    return this.#end
  }

  /** Whether nothing was dropped. */
  get isComplete(): boolean {
    return this.#isComplete
  }

  /** Copies the bytes. Those for which there is no room are dropped. */
  add(bytes: Buffer, atMs: number): void {
    for (let rest = bytes; rest.length > 0;) {
      const block = this.#openPiece(atMs) ?? this.#beginPiece(rest.length, atMs)
      const taken = block === undefined ? rest.length : append(block, rest)
      this.#end += taken
      if (block === undefined) this.#isComplete = false
      rest = rest.subarray(taken)
    }
  }

  /** Returns how much memory that frees; 0 for the block that is being filled. */
  dropOldest(): number {
    const [oldest] = this.#blocks
    if (oldest === undefined || oldest === this.#filling) return 0
    this.#blocks.shift()
    this.#isComplete = false
    return this.#free(oldest.buffer.length)
  }

  /** Nothing follows, so its last block needs no room for more. */
  finish(): void {
    const block = this.#blocks.pop()
    if (block === undefined) return
    const buffer = Buffer.allocUnsafeSlow(block.used)
    block.buffer.copy(buffer)
    this.#blocks.push({ ...block, buffer })
    this.#free(block.buffer.length - block.used)
    this.#filling = undefined
  }

  /** The kept pieces from this place in the stream on; the first may be the rest of one. */
  *pieces(from: number): Generator<Piece> {
    for (const block of this.#blocks) yield* piecesOf(block, from)
  }

  /** The kept bytes from this place in the stream to its present end, in steps. */
  *copy(from = 0): Steps<Buffer> {
    // Blocks may be dropped, and filled, between the steps.
    const blocks = [...this.#blocks]
    const lengths = blocks.map(({ start, length }) => Math.max(0, start + length - Math.max(from, start)))
    const all = Buffer.allocUnsafeSlow(lengths.reduce((sum, length) => sum + length, 0))
    let used = 0
    for (const block of blocks) {
      for (const { bytes } of piecesOf(block, from)) used += bytes.copy(all, used)
      yield
    }
    return all
  }

  /** The block whose last piece the next bytes belong to. */
  #openPiece(atMs: number): Block | undefined {
    const block = this.#filling
    if (block === undefined || block.used === block.buffer.length) return undefined
    const { number, atMs: sinceMs } = readHeader(block.buffer, block.last)
    return number === this.#parts.order.newest && atMs - sinceMs < joinMs ? block : undefined
  }

  #beginPiece(bytes: number, atMs: number): Block | undefined {
    const last = this.#filling
    const hasRoom = last !== undefined && last.used + headerBytes < last.buffer.length
    const block = hasRoom ? last : this.#beginBlock(bytes)
    if (block === undefined) return undefined
    block.last = block.used
    block.used += headerBytes
    writeHeader(block.buffer, block.last, { number: ++this.#parts.order.newest, length: 0, atMs })
    return block
  }

  #beginBlock(bytes: number): Block | undefined {
    const { least, most } = blockBytes
    const wanted = Math.max(bytes + headerBytes, 2 * (this.#filling?.buffer.length ?? 0), least)
    const size = Math.min(wanted, most)
    while (this.#bytes + size > keptBytesMax && this.dropOldest() > 0);
    if (!this.#parts.reserve(size)) return undefined
    const block = { buffer: Buffer.allocUnsafeSlow(size), used: 0, last: 0, start: this.#end, length: 0 }
    this.#bytes += size
    this.#blocks.push(block)
    this.#filling = block
    return block
  }

  #free(bytes: number): number {
    this.#bytes -= bytes
    this.#parts.giveBack(bytes)
    return bytes
  }
}

function append(block: Block, bytes: Buffer): number {
  const taken = bytes.copy(block.buffer, block.used)
  block.used += taken
  block.length += taken
  const head = readHeader(block.buffer, block.last)
  writeHeader(block.buffer, block.last, { ...head, length: head.length + taken })
  return taken
}

function* piecesOf({ buffer, used, start }: Block, from: number): Generator<Piece> {
  let place = start
  for (let at = 0; at < used;) {
    const { number, length, atMs } = readHeader(buffer, at)
    const first = at + headerBytes + Math.max(0, Math.min(length, from - place))
    at += headerBytes + length
    place += length
    if (place > from) yield { number, bytes: buffer.subarray(first, at), end: place, atMs }
  }
}

interface Header {
  readonly number: number
  readonly length: number
  readonly atMs: number
}

function readHeader(buffer: Buffer, at: number): Header {
  const number = buffer.readUIntLE(at, 6)
  return { number, length: buffer.readUInt32LE(at + 6), atMs: buffer.readDoubleLE(at + 10) }
}

function writeHeader(buffer: Buffer, at: number, { number, length, atMs }: Header): void {
  buffer.writeUIntLE(number, at, 6)
  buffer.writeUInt32LE(length, at + 6)
  buffer.writeDoubleLE(atMs, at + 10)
}
