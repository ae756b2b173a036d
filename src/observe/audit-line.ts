/**
 * A line of the audit log: canonical JSON with the hash of the line before it and, over all of that, its own. So a line
 * that was changed does not fit its own hash, and one that was removed, moved or written anew does not fit the next one.
 */
import type { Signature, Statement } from '../core/receipt.ts'
import { canonicalJson } from './canonical-json.ts'
import { sha256 } from './digest.ts'

/** What one line records. */
export interface Entry {
  readonly statement: Statement
  /** Who asked, as the caller wrote it. */
  readonly client?: string | undefined
  readonly signature?: Signature | undefined
}

/** Where a log has got to. */
export interface ChainEnd {
  readonly sequence: number
  readonly sha256: string
}

/** What stands between this line and the one before it. */
export interface Gap {
  /** A line that was begun and not finished, before it. */
  readonly torn?: { readonly bytes: number; readonly sha256: string } | undefined
  /** Records that could neither be written nor held back, before it. */
  readonly lost?: number | undefined
}

export interface AuditLine extends Entry, Gap {
  /** From 1. */
  readonly sequence: number
  /** The hash that the line before it has, or 64 zeros. */
  readonly previous: string
  /** That of the canonical JSON of everything else in the line. */
  readonly sha256: string
}

export const chainStart: ChainEnd = { sequence: 0, sha256: '0'.repeat(64) }

/** Many times what a record takes. */
export const lineBytesMax = 64 * 1024

export function writeLine(after: ChainEnd, entry: Entry, gap: Gap = {}): { text: string; end: ChainEnd } {
  const rest = { ...entry, ...gap, sequence: after.sequence + 1, previous: after.sha256 }
  const own = sha256(canonicalJson(rest))
  return {
    text: `${canonicalJson({ ...rest, sha256: own })}\n`,
    end: { sequence: rest.sequence, sha256: own },
  }
}

/** Undefined when it is no line of a log, or was changed. */
export function readLine(text: string): AuditLine | undefined {
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

/** Anybody can write a line with a hash that fits. */
function hasForm({ sequence, previous, statement, torn, signature }: Partial<AuditLine>): boolean {
  const isObject = (value: unknown) => typeof value === 'object' && value !== null
  const isPlaced = Number.isSafeInteger(sequence) && typeof previous === 'string'
  const optional = [torn, signature].filter((one) => one !== undefined)
  return isPlaced && [statement, ...optional].every(isObject)
}
