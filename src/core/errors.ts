/** What is thrown. Its rows stand in error-table.ts. */
import { table } from './error-table.ts'
import type { ErrorRow } from './error-table.ts'

export type ErrorCode = keyof typeof table

/** Every code, for tests and documentation. */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = table

export interface LazaretErrorDetails {
  /** What exactly happened, and to what. Appended to the table's message. */
  readonly detail?: string
  /** Overrides the table's hint where a better one is known. */
  readonly hint?: string
  readonly cause?: unknown
  /** In place of the table's message, where a contract fixes the words. */
  readonly message?: string
  /** When it is worth trying again. */
  readonly retryAfterMs?: number
}

/** Thrown when a run was refused or when we failed. A guest that misbehaves never throws. */
export class LazaretError extends Error {
  override readonly name = 'LazaretError'
  readonly code: ErrorCode
  readonly kind: 'refusal' | 'fault'
  /** What to do next. */
  readonly hint: string
  readonly retryable: boolean
  readonly httpStatus: number
  readonly exitCode: number
  /** When it is worth trying again, where that is known. */
  readonly retryAfterMs?: number

  constructor(code: ErrorCode, details: LazaretErrorDetails = {}) {
    const row = table[code]
    const { detail, hint, cause, message = row.message, retryAfterMs } = details
    super(detail === undefined ? message : `${message} ${detail}`, cause === undefined ? {} : { cause })
    this.code = code
    this.kind = row.kind
    this.hint = hint ?? row.hint
    this.retryable = row.retryable
    this.httpStatus = row.httpStatus
    this.exitCode = row.exitCode
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
  }

  /** The shape that every door shows: no stack, no cause. */
  toJSON(): {
    code: ErrorCode
    kind: 'refusal' | 'fault'
    message: string
    hint: string
    retryable: boolean
    retryAfterMs?: number
  } {
    return {
      code: this.code,
      kind: this.kind,
      message: this.message,
      hint: this.hint,
      retryable: this.retryable,
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
    }
  }
}
