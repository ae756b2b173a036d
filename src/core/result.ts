/** What a caller gets: how the run ended, what it left, and a receipt for the walls around it. */
import type { Outcome } from './outcome.ts'
import type { Receipt, Usage } from './receipt.ts'

/** What one console call said. Guest text. */
export interface LogEntry {
  readonly level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  readonly text: string
  /** Milliseconds since the guest started, by the host's clock. */
  readonly atMs: number
}

/** One thing in several formats: MIME type → text, or base64 for binary types. */
export type MimeBundle = Readonly<Record<string, string>>

export type Truncatable = 'stdout' | 'stderr' | 'logs' | 'value' | 'displays' | 'files'

/** What came out of a run. */
export interface RunResult {
  readonly id: string
  readonly outcome: Outcome
  /** Present when the guest produced one: the completion value in JavaScript, the last expression in Python. */
  readonly value?: unknown
  /** The same value in the tagged encoding of `core/values.ts`: plain JSON that loses nothing. */
  readonly valueTagged?: unknown
  /** The value as the language's own REPL prints it. Guest text. */
  readonly valueText?: string
  readonly displays: readonly MimeBundle[]
  /** What `collect` asked for, by path below /workspace. Together at most `resultBytes`; a path is guest text. */
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly logs: readonly LogEntry[]
  /** Invalid UTF-8 is replaced. Kept up to the limit whatever the outcome. */
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly Truncatable[]
  readonly usage: Usage
  readonly receipt: Receipt
}
