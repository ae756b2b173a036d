/** What a program logs and displays. All of it is guest data. */

/** The output of one console call. Guest text. */
export interface LogEntry {
  readonly level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  readonly text: string
  /** Milliseconds since the guest started, by the host's clock. */
  readonly atMs: number
}

/** One display in several formats: MIME type → text, or base64 for binary types. */
export type MimeBundle = Readonly<Record<string, string>>

/** What a guest sends with a display in addition to the bundle. */
export interface DisplayFacts {
  /** The id by which a later display can replace this one. Guest text. */
  readonly displayId?: string
  /** The display replaces the earlier one with this id. */
  readonly isUpdate?: true
}
