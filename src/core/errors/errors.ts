/** The class of all errors that Lazaret throws. The rows are in error-table.ts. */
import { table } from './error-table.ts'
import type { ErrorRow } from './error-row.ts'
import type { Finding } from '../validation.ts'

export type ErrorCode = keyof typeof table

/** Every code, for tests and documentation. */
export const errorTable: Readonly<Record<ErrorCode, ErrorRow>> = table

export interface LazaretErrorDetails {
  /** What exactly happened, and to what. Appended to the table's message. */
  readonly detail?: string
  /** Overrides the table's hint if a better one is known. */
  readonly hint?: string
  readonly cause?: unknown
  /** Replaces the table's message if a contract fixes the wording. */
  readonly message?: string
  /** Overrides the table's value, for an error that does not go away by itself. */
  readonly retryable?: boolean
  /** When it is worth trying again. */
  readonly retryAfterMs?: number
  /** The findings for which the code was rejected. */
  readonly findings?: readonly Finding[]
}

/** Thrown if Lazaret refuses a run or fails itself. A misbehaving guest never causes a throw. */
export class LazaretError extends Error {
  override readonly name = 'LazaretError'
  readonly code: ErrorCode
  readonly kind: 'refusal' | 'fault'
  /** What to do next. */
  readonly hint: string
  /** Whether the same request may succeed later, without a change. */
  readonly retryable: boolean
  /** The status of the HTTP reply for this error, such as 429. */
  readonly httpStatus: number
  /** The same status, under the name that Express and Fastify read. */
  readonly statusCode: number
  readonly exitCode: number
  /** When it is worth trying again, if that is known. */
  readonly retryAfterMs?: number
  /** Of CODE_REJECTED: what validation found in the code. */
  readonly findings?: readonly Finding[]

  constructor(code: ErrorCode, details: LazaretErrorDetails = {}) {
    const row = table[code]
    const { detail, hint, cause, message = row.message, retryable, retryAfterMs, findings } = details
    super(detail === undefined ? message : `${message} ${detail}`, cause === undefined ? {} : { cause })
    this.code = code
    this.kind = row.kind
    this.hint = hint ?? row.hint
    this.retryable = retryable ?? row.retryable
    this.httpStatus = row.httpStatus
    this.statusCode = row.httpStatus
    this.exitCode = row.exitCode
    if (retryAfterMs !== undefined) this.retryAfterMs = retryAfterMs
    if (findings !== undefined) this.findings = findings
  }

  /** The shape that every adapter shows: no stack, no cause. */
  toJSON(): {
    code: ErrorCode
    kind: 'refusal' | 'fault'
    message: string
    hint: string
    retryable: boolean
    retryAfterMs?: number
    findings?: readonly Finding[]
  } {
    return {
      code: this.code,
      kind: this.kind,
      message: this.message,
      hint: this.hint,
      retryable: this.retryable,
      ...(this.retryAfterMs === undefined ? {} : { retryAfterMs: this.retryAfterMs }),
      ...(this.findings === undefined ? {} : { findings: this.findings }),
    }
  }
}
