/** The result of a run: how it ended, what it produced, and a receipt of what protected it. */
import type { MissingFiles } from './missing-files.ts'
import type { Outcome } from './outcome.ts'
import type { LogEntry, MimeBundle } from './output.ts'
import type { Receipt, Usage } from './receipt.ts'

export type Truncatable = 'stdout' | 'stderr' | 'logs' | 'value' | 'displays' | 'files'

/** A picture that a model or a browser can show. Its first bytes were checked against its type. */
export interface ResultImage {
  readonly mimeType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  /** Base64. */
  readonly data: string
}

/** The plain data of a result. */
export interface RunData {
  readonly id: string
  readonly outcome: Outcome
  /** Present if the guest produced a value: the completion value in JavaScript, the last expression in Python. */
  readonly value?: unknown
  /** The same value in the tagged encoding of docs/guide/values.md: plain JSON that loses nothing. */
  readonly valueTagged?: unknown
  /** The value as the language's own REPL prints it. Guest text. */
  readonly valueText?: string
  readonly displays: readonly MimeBundle[]
  /**
   * The files that `collect` asked for, by path below /workspace. Together at most `resultBytes`; paths are guest text.
   */
  readonly files: Readonly<Record<string, Uint8Array>>
  /** Those of `files` that their owner may execute. */
  readonly executables: readonly string[]
  /** The empty folders that `collect` matched, by path below /workspace. Guest text. */
  readonly folders: readonly string[]
  /** Files that `collect` asked for and `files` does not have: an entry for each reason. */
  readonly missingFiles: readonly MissingFiles[]
  readonly logs: readonly LogEntry[]
  /** Invalid UTF-8 is replaced. Kept up to the limit whatever the outcome. */
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly Truncatable[]
  readonly usage: Usage
  readonly receipt: Receipt
}

export interface ToTextOptions {
  /**
   * The greatest length of the text, in UTF-16 units. Longer parts keep their beginning and end. Default 30,000, at
   * least 1000.
   */
  readonly charsMax?: number
}

/** A file in a `ResultDocument`. Its type is never guessed from its name. */
export interface FileDocument {
  readonly mime: 'application/octet-stream'
  readonly base64: string
}

/** A result as JSON: what `JSON.stringify(result)` and `lazaret run --json` write. */
export interface ResultDocument extends Omit<RunData, 'value' | 'valueTagged' | 'files'> {
  readonly ok: boolean
  /** In the tagged encoding, so that dates, maps, sets, bytes and large integers survive. */
  readonly value?: unknown
  readonly files: Readonly<Record<string, FileDocument>>
}

/** The result of a run. */
export interface RunResult extends RunData {
  /** Whether the program ended on its own with exit code 0. */
  readonly ok: boolean
  /** The displays that are pictures, in order. Other displays are in `toText()`. */
  readonly images: readonly ResultImage[]
  /**
   * Returns the result as compact text for a language model: output, value, what the network policy refused, and, if the
   * program did not succeed, how it ended and what to do next. Shortened text says so. Pictures are in `images`. The text
   * is never empty: if the program only displayed pictures, it says how many.
   *
   * @throws {LazaretError} INVALID_REQUEST when `charsMax` is not a whole number of at least 1000.
   */
  toText(options?: ToTextOptions): string
  /** Returns plain JSON that loses nothing. `JSON.stringify()` calls it. */
  toJSON(): ResultDocument
}
