/** What a program logs and displays. All of it is guest data. */

/** The output of one console call. Guest text. */
export interface LogEntry {
  readonly level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  readonly text: string
  /** Milliseconds since the guest started, by the host's clock. */
  readonly atMs: number
}

/** One displayed thing in several formats: MIME type → text, or base64 for binary types. */
export type MimeBundle = Readonly<Record<string, string>>

/** What a guest sends with a display in addition to the bundle. */
export interface DisplayFacts {
  /** By which it can be replaced. Guest text. */
  readonly displayId?: string
  /** It takes the place of what was shown by this id. */
  readonly isUpdate?: true
}
