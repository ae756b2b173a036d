/**
 * Parses the output of the collector in the cell (native/cell/files/collect.c). It is trusted no more than a guest's
 * messages.
 */
import { isUtf8 } from 'node:buffer'

import { PayloadWriter } from '../../jail/launch/frames.ts'

export interface ListedFile {
  readonly path: string
  readonly bytes: number
}

/** A result cannot name a file whose name is not UTF-8. Its `path` is only an approximation. */
export interface ListedEntry extends ListedFile {
  readonly isNameable: boolean
}

const headBytes = 12
const depthMax = 64
const pathBytesMax = 4096
/** Stands for bytes that are not UTF-8, and may be in a name itself. */
const replacement = '\uFFFD'

/** Yields files one by one, so that the reader of a long listing can let the event loop turn. */
export function* decodeListing(listed: Buffer): Generator<ListedEntry> {
  for (let at = 0; at + headBytes <= listed.length;) {
    const bytes = Number(listed.readBigUInt64LE(at))
    const length = listed.readUInt32LE(at + 8)
    const from = at + headBytes
    at = from + length
    if (length === 0 || length >= pathBytesMax || at > listed.length) return
    // There may be a hundred thousand: a buffer for each would take more memory than all of their names.
    const path = listed.toString('utf8', from, at)
    const isNameable = !path.includes(replacement) || isUtf8(listed.subarray(from, at))
    if (isInside(path)) yield { path, bytes, isNameable }
  }
}

/** Whether the listing is complete: then its last entry is empty. */
export function isWholeListing(listed: Buffer): boolean {
  const end = listed.subarray(-headBytes)
  return end.length === headBytes && end.every((byte) => byte === 0)
}

/** Lazaret's collector writes only such paths. */
function isInside(path: string): boolean {
  if (/(?:^|\/)\.{0,2}(?:\/|$)/.test(path)) return false
  let depth = 1
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) depth++
  return depth <= depthMax
}

/** The files to read: the input of the collector's task `read`. */
export function encodeWanted(files: readonly ListedFile[]): Buffer {
  const payload = new PayloadWriter()
  for (const { path, bytes } of files) payload.u64(bytes).bytes(Buffer.from(path))
  return payload.finish()
}

/** Receives the contents of files in the requested order. Allocates exactly the listed size for each. */
export class FileReceiver {
  readonly files: [path: string, content: Uint8Array][] = []
  readonly #wanted: readonly ListedFile[]
  #index = 0
  readonly #word = Buffer.alloc(4)
  #wordBytes = 0
  /** The content of the file that is being received. */
  #content: Buffer | undefined
  #used = 0
  #pieceBytesLeft = 0

  constructor(wanted: readonly ListedFile[]) {
    this.#wanted = wanted
  }

  push(bytes: Buffer): void {
    for (let rest = bytes; rest.length > 0;)
      rest = rest.subarray(this.#pieceBytesLeft > 0 ? this.#takePiece(rest) : this.#takeWord(rest))
  }

  #takePiece(bytes: Buffer): number {
    const piece = bytes.subarray(0, this.#pieceBytesLeft)
    piece.copy(this.#content ?? piece, this.#used)
    this.#used += piece.length
    this.#pieceBytesLeft -= piece.length
    return piece.length
  }

  #takeWord(bytes: Buffer): number {
    const taken = bytes.copy(this.#word, this.#wordBytes)
    this.#wordBytes += taken
    if (this.#wordBytes === this.#word.length) {
      this.#wordBytes = 0
      this.#understand(this.#word.readUInt32LE(0))
    }
    return taken
  }

  /** A file is preceded by its errno, and each piece by its length. */
  #understand(word: number): void {
    const file = this.#wanted[this.#index]
    if (file === undefined) return
    if (this.#content === undefined) {
      if (word === 0) this.#content = Buffer.allocUnsafeSlow(file.bytes)
      else this.#index++
      this.#used = 0
    } else if (word > 0) this.#pieceBytesLeft = word
    else {
      // Drops a file that is shorter than listed.
      if (this.#used === file.bytes) this.files.push([file.path, this.#content])
      this.#content = undefined
      this.#index++
    }
  }
}
