/**
 * Parses the output of the collector in the cell (native/cell/files/collect.c). It is trusted no more than a guest's
 * messages.
 */
import { isUtf8 } from 'node:buffer'
import { constants } from 'node:fs'
import { constants as os } from 'node:os'

import type { MissingReason } from '../../core/missing-files.ts'
import { PayloadWriter } from '../../jail/launch/frames.ts'

export interface ListedFile {
  readonly path: string
  readonly bytes: number
  readonly isExecutable: boolean
}

/** A result cannot name a file whose name is not UTF-8. Its `path` is only an approximation. */
export interface ListedEntry extends ListedFile {
  /** `other`: a link, pipe, socket or device. */
  readonly type: 'file' | 'empty-folder' | 'other' | 'unlisted'
  readonly isNameable: boolean
  /** Why it could not be listed. */
  readonly reason?: MissingReason
}

const headBytes = 16
const depthMax = 64
const pathBytesMax = 4096
/** Stands for bytes that are not UTF-8, and may be in a name itself. */
const replacement = '\uFFFD'
const { S_IFDIR, S_IFMT, S_IFREG, S_IXUSR } = constants
const { EACCES, E2BIG, ENAMETOOLONG, EPERM } = os.errno

/** Yields entries one by one, so that the reader of a long listing can let the event loop turn. */
export function* decodeListing(listed: Buffer): Generator<ListedEntry> {
  for (let at = 0; at + headBytes <= listed.length;) {
    const bytes = Number(listed.readBigUInt64LE(at))
    const mode = listed.readUInt32LE(at + 8)
    const length = listed.readUInt32LE(at + 12)
    const from = at + headBytes
    at = from + length
    if (length === 0 || length >= pathBytesMax || at > listed.length) return
    // There may be a hundred thousand: a buffer for each would take more memory than all of their names.
    const path = listed.toString('utf8', from, at)
    const isNameable = !path.includes(replacement) || isUtf8(listed.subarray(from, at))
    const isExecutable = (mode & S_IXUSR) !== 0
    if (mode === 0) {
      if (path === '.' || isInside(path))
        yield { path, bytes: 0, isExecutable, type: 'unlisted', isNameable, reason: reasonOf(bytes) }
    } else if (isInside(path)) yield { path, bytes, isExecutable, type: typeOf(mode), isNameable }
  }
}

function typeOf(mode: number): ListedEntry['type'] {
  const type = mode & S_IFMT
  if (type === S_IFREG) return 'file'
  return type === S_IFDIR ? 'empty-folder' : 'other'
}

function reasonOf(errno: number): MissingReason {
  if (errno === EACCES || errno === EPERM) return 'permission'
  if (errno === ENAMETOOLONG) return 'path'
  return errno === E2BIG ? 'count' : 'changed'
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
export function encodeWanted(files: readonly WantedFile[]): Buffer {
  const payload = new PayloadWriter()
  for (const { path, bytes } of files) payload.u64(bytes).bytes(Buffer.from(path))
  return payload.finish()
}

type WantedFile = Pick<ListedFile, 'path' | 'bytes'>

/** Receives the contents of files in the requested order. Allocates exactly the listed size for each. */
export class FileReceiver {
  readonly files: [path: string, content: Uint8Array][] = []
  readonly unread: [path: string, reason: MissingReason][] = []
  readonly #wanted: readonly WantedFile[]
  #index = 0
  readonly #word = Buffer.alloc(4)
  #wordBytes = 0
  /** The content of the file that is being received. */
  #content: Buffer | undefined
  #used = 0
  #pieceBytesLeft = 0

  constructor(wanted: readonly WantedFile[]) {
    this.#wanted = wanted
  }

  /** The files about which nothing has arrived, or only a part. */
  get rest(): readonly WantedFile[] {
    return this.#wanted.slice(this.#index)
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
      else {
        this.unread.push([file.path, reasonOf(word)])
        this.#index++
      }
      this.#used = 0
    } else if (word > 0) this.#pieceBytesLeft = word
    else {
      // Drops a file that is shorter than listed.
      if (this.#used === file.bytes) this.files.push([file.path, this.#content])
      else this.unread.push([file.path, 'changed'])
      this.#content = undefined
      this.#index++
    }
  }
}
