/**
 * The file of an audit log. One process at a time writes to it, it only grows, and writing continues at its end. A line
 * that a crash left unfinished stays there; the next record names its size and hash.
 */
import { closeSync, constants, fstatSync, ftruncate, openSync, read, write } from 'node:fs'
import type { Stats } from 'node:fs'
import { promisify } from 'node:util'

import { chainStart, lineBytesMax, readLine, writeLines } from './audit-line.ts'
import type { ChainEnd, Entry, Gap } from './audit-line.ts'
import { sha256 } from './digest.ts'

const readAt = promisify(read)
const writeTo = promisify(write)
const cutAt = promisify(ftruncate)

export interface AuditFileParts {
  readonly path: string
  /**
   * Locks an open file until it is closed, which the end of this process does too. False if another process has locked
   * it.
   */
  readonly lock: (file: number) => Promise<boolean>
}

export class AuditFile {
  readonly #lock: AuditFileParts['lock']
  readonly #file: number
  #opening: Promise<void> | undefined
  #isOpen = false
  #isClosed = false
  /** The position after the last complete line. */
  #end: ChainEnd = chainStart
  #bytes = 0
  #gap: Gap = {}
  /** Whether an end of line has to be written first. */
  #isUnended = false

  /** Throws the system's error if the file cannot be opened. */
  constructor({ path, lock }: AuditFileParts) {
    this.#lock = lock
    const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
    // Opened without blocking, because a pipe of that name would wait for its other end. No other user may read the
    // log.
    this.#file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
    const wrong = explainFile(fstatSync(this.#file))
    if (wrong === undefined) return
    closeSync(this.#file)
    throw new TypeError(`${path} ${wrong}.`)
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Throws if another process writes to it, or if its end is not that of a log. The next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined
      throw error
    })
    return this.#opening
  }

  async #open(): Promise<void> {
    if (!(await this.#lock(this.#file)))
      throw new Error('Something else writes to it: another process, or another Lazaret in this process.')
    const { size } = fstatSync(this.#file)
    const { end, torn, isUnended } = findEnd(await this.#readEnd(size))
    this.#end = end
    this.#bytes = size
    this.#gap = torn === undefined ? {} : { torn }
    this.#isUnended = isUnended
    this.#isOpen = true
  }

  /** Writes all entries, or nothing that a reader would take for a record. Throws the system's error. */
  async append(entries: readonly Entry[], lost: number): Promise<void> {
    await this.open()
    const gap = lost === 0 ? this.#gap : { ...this.#gap, lost }
    const { text, end } = writeLines(this.#end, entries, gap)
    const bytes = Buffer.from(this.#isUnended ? `\n${text}` : text)
    try {
      for (let done = 0; done < bytes.length;)
        done += (await writeTo(this.#file, bytes, done, bytes.length - done)).bytesWritten
    } catch (error) {
      await this.#takeBack()
      throw error
    }
    this.#end = end
    this.#bytes += bytes.length
    this.#gap = {}
    this.#isUnended = false
  }

  /**
   * Removes half a record. If the file cannot be truncated because it may only grow, the half is later read as an
   * unfinished line.
   */
  async #takeBack(): Promise<void> {
    try {
      await cutAt(this.#file, this.#bytes)
    } catch {
      this.#isOpen = false
      this.#opening = undefined
    }
  }

  async #readEnd(size: number): Promise<Buffer> {
    const wanted = Math.min(size, 2 * lineBytesMax + 2)
    const bytes = Buffer.alloc(wanted)
    const { bytesRead } = await readAt(this.#file, bytes, 0, wanted, size - wanted)
    return bytes.subarray(0, bytesRead)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#isOpen = false
    this.#opening = Promise.reject(new Error('It was closed.'))
    this.#opening.catch(() => undefined)
    closeSync(this.#file)
  }
}

const rootUid = 0
const othersMayWrite = 0o002

/**
 * The reason not to use an existing file, or undefined. Users who own it or may write to it can change its contents.
 */
function explainFile(facts: Stats): string | undefined {
  if (!facts.isFile()) return 'is not a regular file'
  if (facts.uid !== rootUid && facts.uid !== process.geteuid?.()) return 'belongs to another user'
  return (facts.mode & othersMayWrite) === 0 ? undefined : 'can be written by everybody: chmod o-w'
}

const newline = 0x0a

interface LogEnd {
  readonly end: ChainEnd
  readonly torn?: Gap['torn']
  readonly isUnended: boolean
}

/**
 * The last position of a log that ends in these bytes. Throws if they are not from a log, or if its last line was
 * changed.
 */
function findEnd(bytes: Buffer): LogEnd {
  const last = bytes.lastIndexOf(newline)
  const rest = bytes.subarray(last + 1)
  if (rest.length > lineBytesMax) throw new Error(noLog)
  const isUnended = rest.length > 0
  const end = last === -1 ? chainStart : endOfLine(bytes, last)
  const whole = readLine(rest.toString())
  // Only the end of line of the last record is missing.
  if (whole?.previous === end.sha256)
    return { end: { sequence: whole.sequence, sha256: whole.sha256 }, isUnended }
  return { end, isUnended, torn: isUnended ? { bytes: rest.length, sha256: sha256(rest) } : undefined }
}

function endOfLine(bytes: Buffer, last: number): ChainEnd {
  const from = last === 0 ? 0 : bytes.lastIndexOf(newline, last - 1) + 1
  const line = readLine(bytes.subarray(from, last).toString())
  if (line === undefined) throw new Error(noLog)
  return { sequence: line.sequence, sha256: line.sha256 }
}

const noLog =
  'It does not end like an audit log: `lazaret audit verify` says more. Move it away to begin a new one.'
