/** What the two threads of a code context share, and the host's messages to them, apart from answers to calls. */

export interface ReaderData {
  /** The number of the entry that runs, or 0 if none runs. */
  readonly running: Int32Array
}

/** The first message: describes the context. The answer is `end`. */
export interface ContextRequest {
  readonly context: 'javascript' | 'typescript'
  readonly folder: string
  readonly resultBytes: number
  readonly functions?: { readonly names: readonly string[] }
}

/** Asks for completions of a text. The answer is a value, which is an array of strings, and `end`. */
export interface CompleteRequest {
  readonly entry: number
  readonly complete: string
}

/** A piece of code to run. The host sends the next one only after the `end` of this one. */
export interface EntryRequest {
  readonly entry: number
  readonly code: string
  /** Environment variables that changed since the previous entry. Null means deleted. */
  readonly variables: Readonly<Record<string, string | null>>
}
