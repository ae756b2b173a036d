/**
 * A line of the audit log: canonical JSON that contains the hash of the previous line, and a hash of everything else in
 * the line. So a changed line does not match its own hash, and if a line was removed, moved or rewritten, the next line
 * does not match.
 */
import type { Signature, Statement } from '../core/receipt.ts'
import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './digest.ts'

/** What one line records. */
export interface Entry {
  readonly statement: Statement
  /** The client, as the caller wrote it. */
  readonly client?: string | undefined
  readonly signature?: Signature | undefined
}

/** The position in a log. */
export interface ChainEnd {
  readonly sequence: number
  readonly sha256: string
}

/** What came between this line and the previous one. */
export interface Gap {
  /** An unfinished line before it. */
  readonly torn?: { readonly bytes: number; readonly sha256: string } | undefined
  /** The number of records before it that could neither be written nor kept. */
  readonly lost?: number | undefined
}

export interface AuditLine extends Entry, Gap {
  /** From 1. */
  readonly sequence: number
  /** The hash of the previous line, or 64 zeros. */
  readonly previous: string
  /** The hash of the canonical JSON of everything else in the line. */
  readonly sha256: string
}

export const chainStart: ChainEnd = { sequence: 0, sha256: '0'.repeat(64) }

/** Many times what a record takes. */
export const lineBytesMax = 64 * 1024
/**
 * A line has at least two hashes. Trying to parse text that is not JSON takes the engine a thousand times as long as
 * this comparison.
 */
const lineLengthMin = 2 * chainStart.sha256.length

export function writeLine(after: ChainEnd, entry: Entry, gap: Gap = {}): { text: string; end: ChainEnd } {
  const rest = { ...entry, ...gap, sequence: after.sequence + 1, previous: after.sha256 }
  const own = sha256(canonicalJson(rest))
  return {
    text: `${canonicalJson({ ...rest, sha256: own })}\n`,
    end: { sequence: rest.sequence, sha256: own },
  }
}

/** Consecutive lines. The gap is before the first. */
export function writeLines(
  after: ChainEnd,
  entries: readonly Entry[],
  gap: Gap,
): { text: string; end: ChainEnd } {
  let end = after
  let text = ''
  for (const [index, entry] of entries.entries()) {
    const line = writeLine(end, entry, index === 0 ? gap : {})
    text += line.text
    end = line.end
  }
  return { text, end }
}

/** Undefined if it is not a line of a log, or was changed. */
export function readLine(text: string): AuditLine | undefined {
  if (text.length < lineLengthMin) return undefined
  try {
    const line = JSON.parse(text) as AuditLine
    const { sha256: own, ...rest } = line
    // Any other spelling of the same JSON is a change.
    const isWhole = own === sha256(canonicalJson(rest)) && canonicalJson(line) === text
    return isWhole && hasForm(line) ? line : undefined
  } catch {
    return undefined
  }
}

/** Checks the types of the fields, because anybody can write a line with a matching hash. */
function hasForm({ sequence, previous, statement, torn, signature }: Partial<AuditLine>): boolean {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  const isPlaced = Number.isSafeInteger(sequence) && typeof previous === 'string'
  const optional = [torn, signature].filter((one) => one !== undefined)
  return isPlaced && [statement, ...optional].every(isObject)
}
