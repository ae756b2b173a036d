/**
 * Whether an audit log is as it was written: each line unchanged, and each after the previous one, from the first line
 * on.
 */
import { createReadStream } from 'node:fs'

import { chainStart, lineBytesMax, readLine } from './audit-line.ts'
import type { AuditLine, ChainEnd } from './audit-line.ts'
import { sha256 } from './digest.ts'
import { isSignedBy, readPublicKey } from './verify-receipt.ts'

export interface AuditVerification {
  /** Whether nothing was changed, removed or moved. */
  readonly isIntact: boolean
  readonly records: number
  /** Lines that a crash left unfinished, as the record after each confirms. */
  readonly torn: number
  /** Whether the last line is unfinished: after a crash, or because a process is writing it now. */
  readonly isUnfinished: boolean
  /** Records that the process could neither write nor keep, as it reported itself. */
  readonly lost: number
  /** The number of signatures that were checked. Only with a key. */
  readonly signatures: number
  /** The first hundred problems, each with its line. */
  readonly problems: readonly AuditProblem[]
  /** Store it elsewhere: a log that was truncated, or rewritten as a whole, is intact but does not contain it. */
  readonly end: ChainEnd
}

export interface AuditProblem {
  readonly line: number
  readonly what: string
}

export interface VerifyAuditOptions {
  /** The receipts' public key in PEM: each signature must be by this key, and each run must have one. */
  readonly publicKey?: string | Buffer
  /** The `sha256`, stored earlier, of a record that must be in the log. */
  readonly includes?: string
}

const problemsMax = 100
/** The longest run of unfinished lines. */
const tornBytesMax = 4 * lineBytesMax

/** Throws the system's error if the file cannot be read. */
export async function verifyAudit(
  path: string,
  options: VerifyAuditOptions = {},
): Promise<AuditVerification> {
  const chain = new Chain(options)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      chain.take(bytes.subarray(from, to))
      from = to + 1
    }
    rest = bytes.subarray(from)
    // No valid line is this long. A longer one is read in pieces, none of which is a record.
    if (rest.length <= tornBytesMax) continue
    chain.take(rest)
    rest = Buffer.alloc(0)
  }
  return chain.finish(rest)
}

class Chain {
  readonly #options: VerifyAuditOptions
  readonly #key
  readonly #problems: AuditProblem[] = []
  #line = 0
  #end = chainStart
  #counts = { records: 0, torn: 0, lost: 0, signatures: 0 }
  /** Lines that are not records, until the next record says whether they are unfinished lines. */
  #unread: Buffer[] = []
  #unreadBytes = 0
  #unreadFrom = 0
  #isIncluded = false

  constructor(options: VerifyAuditOptions) {
    this.#options = options
    this.#key = options.publicKey === undefined ? undefined : readPublicKey(options.publicKey)
  }

  take(bytes: Buffer): void {
    this.#line++
    const line = bytes.length > lineBytesMax ? undefined : readLine(bytes.toString())
    if (line === undefined) {
      if (this.#unread.length === 0) this.#unreadFrom = this.#line
      this.#unread.push(Buffer.from(bytes))
      // The line with its end, because an empty line counts too.
      this.#unreadBytes += bytes.length + 1
      if (this.#unreadBytes > tornBytesMax) this.#complainOfUnread()
      return
    }
    this.#judgeTorn(line)
    this.#judgePlace(line)
    this.#judgeSignature(line)
    const { sequence, sha256: own, lost } = line
    this.#end = { sequence, sha256: own }
    this.#counts.records++
    this.#counts.lost += typeof lost === 'number' ? lost : 0
    this.#isIncluded ||= own === this.#options.includes
  }

  /** Including the text after the last end of a line. */
  finish(rest: Buffer): AuditVerification {
    const isUnfinished = rest.length > 0 && mayBeUnfinished(rest.toString())
    if (rest.length > 0 && !isUnfinished) this.take(rest)
    this.#complainOfUnread()
    const { includes } = this.#options
    if (includes !== undefined && !this.#isIncluded)
      this.#complain(`no record has the hash ${includes.slice(0, 64)}`)
    const problems = this.#problems
    return { isIntact: problems.length === 0, isUnfinished, ...this.#counts, problems, end: this.#end }
  }

  #judgeTorn({ torn }: AuditLine): void {
    if (torn !== undefined) {
      const bytes = joinLines(this.#unread)
      if (this.#unread.length > 0 && bytes.length === torn.bytes && sha256(bytes) === torn.sha256) {
        this.#counts.torn++
        this.#forgetUnread()
      } else this.#complain('says that an unfinished line precedes it, but other text does')
    }
    this.#complainOfUnread()
  }

  #judgePlace({ sequence, previous }: AuditLine): void {
    const { sequence: last, sha256: own } = this.#end
    if (previous === own && sequence === last + 1) return
    const missing = sequence - last - 1
    const where = last === 0 ? 'is not the first record' : `does not follow record ${last}`
    this.#complain(
      missing > 0 ? `record ${sequence} ${where}: ${missing} missing` : `record ${sequence} ${where}`,
    )
  }

  #judgeSignature({ statement, signature }: AuditLine): void {
    if (this.#key === undefined) return
    const isRun = statement.kind === 'run' && statement.receipt !== undefined
    if (signature === undefined) {
      if (isRun) this.#complain('a run without a signature')
      return
    }
    this.#counts.signatures++
    if (!isSignedBy(this.#key, { statement, ...signature }))
      this.#complain('a signature that is not by this key')
  }

  #complainOfUnread(): void {
    for (const index of this.#unread.keys())
      this.#complain('is not a record, or was changed', this.#unreadFrom + index)
    this.#forgetUnread()
  }

  #forgetUnread(): void {
    this.#unread = []
    this.#unreadBytes = 0
  }

  #complain(what: string, line = this.#line): void {
    if (this.#problems.length < problemsMax) this.#problems.push({ line, what })
  }
}

/** The beginning of a record is an object without its end. Other text shows that the file is no log. */
function mayBeUnfinished(text: string): boolean {
  if (!text.startsWith('{')) return false
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

function joinLines(lines: readonly Buffer[]): Buffer {
  return Buffer.concat(lines.flatMap((line, index) => (index === 0 ? [line] : [Buffer.from('\n'), line])))
}
