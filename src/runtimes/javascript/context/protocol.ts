/** What the two threads of a code context share, and what the host sends them beside answers to calls. */

export interface ReaderData {
  /** The number of the entry that runs; 0 between two of them. */
  readonly running: Int32Array
}

/** The first message: what the context is. It is answered by `end`. */
export interface ContextRequest {
  readonly context: 'javascript' | 'typescript'
  readonly folder: string
  readonly resultBytes: number
  readonly functions?: { readonly names: readonly string[] }
}

/** Asks for the names that may follow a text. A value, an array of texts, and `end` follow. */
export interface CompleteRequest {
  readonly entry: number
  readonly complete: string
}

/** A piece of code. Its `end` follows, and before that the host sends no other. */
export interface EntryRequest {
  readonly entry: number
  readonly code: string
  /** Environment variables that were set or, with null, taken away since the entry before. */
  readonly variables: Readonly<Record<string, string | null>>
}
