/**
 * The records of the file service:
 * `u8 kind, u32 mode, u64 modified, u64 size, u32 length, path, u32 length, target`, little-endian. Data from a cell is
 * trusted no more than guest text.
 */
import { LazaretError } from '../../core/errors/errors.ts'

export interface FileRecord {
  /** See `enum record_kind` in native/cell/files/records.h. */
  readonly kind: number
  readonly mode: number
  readonly modifiedMs: number
  readonly bytes: number
  readonly path: Buffer
  /** Where a link leads. */
  readonly target: Buffer
}

export const recordKind = {
  end: 0,
  file: 0x66,
  folder: 0x64,
  link: 0x6c,
  hardLink: 0x68,
  fifo: 0x70,
  socket: 0x73,
  characterDevice: 0x63,
  blockDevice: 0x62,
  unreadable: 0x75,
} as const

/** 65 names of 255 bytes, each with its slash. */
const textBytesMax = 65 * 256
const headBytes = 21

export function encodeRecord(record: Omit<FileRecord, 'path' | 'target'> & RecordNames): Buffer {
  const texts = [Buffer.from(record.path), Buffer.from(record.target)]
  const payload = Buffer.alloc(texts.reduce((sum, { length }) => sum + 4 + length, headBytes))
  payload.writeUInt8(record.kind, 0)
  payload.writeUInt32LE(record.mode, 1)
  payload.writeBigInt64LE(BigInt(Math.trunc(record.modifiedMs)), 5)
  payload.writeBigUInt64LE(BigInt(record.bytes), 13)
  let at = headBytes
  for (const text of texts) {
    at = payload.writeUInt32LE(text.length, at)
    at += text.copy(payload, at)
  }
  return payload
}

interface RecordNames {
  readonly path: string
  readonly target: string
}

/** The record at that offset, and the offset of the next; undefined if it is incomplete. */
export function decodeRecord(
  bytes: Buffer,
  at: number,
): { readonly record: FileRecord; readonly next: number } | undefined {
  if (bytes.length - at < headBytes) return undefined
  const path = readText(bytes, at + headBytes)
  const target = path === undefined ? undefined : readText(bytes, path.next)
  if (path === undefined || target === undefined) return undefined
  const record = {
    kind: bytes.readUInt8(at),
    mode: bytes.readUInt32LE(at + 1),
    modifiedMs: Number(bytes.readBigInt64LE(at + 5)),
    bytes: Number(bytes.readBigUInt64LE(at + 13)),
    path: path.text,
    target: target.text,
  }
  return { record, next: target.next }
}

function readText(bytes: Buffer, at: number): { readonly text: Buffer; readonly next: number } | undefined {
  if (bytes.length - at < 4) return undefined
  const length = bytes.readUInt32LE(at)
  if (length > textBytesMax) throw malformed()
  const next = at + 4 + length
  return next > bytes.length ? undefined : { text: bytes.subarray(at + 4, next), next }
}

/** Every record of a complete answer, without the final one, which says whether something was left out. */
export function* decodeRecords(answer: Buffer): Generator<FileRecord, { readonly isComplete: boolean }> {
  for (let at = 0; ;) {
    const decoded = decodeRecord(answer, at)
    if (decoded === undefined) throw malformed()
    if (decoded.record.kind === recordKind.end) return { isComplete: decoded.record.mode === 0 }
    yield decoded.record
    at = decoded.next
  }
}

/** Records, with contents in between, as they arrive. */
export class RecordStream {
  readonly #chunks: AsyncIterator<Uint8Array>
  #rest: Buffer = Buffer.alloc(0)

  constructor(output: AsyncIterable<Uint8Array>) {
    this.#chunks = output[Symbol.asyncIterator]()
  }

  /** The next record, or undefined when the task ended before it. */
  async next(): Promise<FileRecord | undefined> {
    for (;;) {
      const decoded = decodeRecord(this.#rest, 0)
      if (decoded !== undefined) {
        this.#rest = this.#rest.subarray(decoded.next)
        return decoded.record
      }
      if (!(await this.#fill())) return undefined
    }
  }

  /** The content of the last record's file. Throws FILES_LOST if the task ends before the content does. */
  async *content(): AsyncGenerator<Buffer> {
    for (;;) {
      while (this.#rest.length < 4) if (!(await this.#fill())) throw lost()
      let left = this.#rest.readUInt32LE(0)
      this.#rest = this.#rest.subarray(4)
      if (left === 0) return
      while (left > 0) {
        if (this.#rest.length === 0 && !(await this.#fill())) throw lost()
        const piece = this.#rest.subarray(0, left)
        this.#rest = this.#rest.subarray(piece.length)
        left -= piece.length
        if (piece.length > 0) yield piece
      }
    }
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done === true) return false
    this.#rest = this.#rest.length === 0 ? Buffer.from(value) : Buffer.concat([this.#rest, value])
    return true
  }
}

function lost(): LazaretError {
  return new LazaretError('FILES_LOST', { detail: 'A file was cut off while it was sent.' })
}

function malformed(): LazaretError {
  return new LazaretError('FILES_LOST', { detail: 'The file service sent an invalid record.' })
}
