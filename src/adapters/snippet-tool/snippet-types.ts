/** The JSON of the snippet tool's requests and answers. */

export interface SnippetRequest {
  /** The program: a script in JavaScript. At most 1 MiB of UTF-8. */
  readonly source: string
  /** What `read_input()` returns. Default: the empty string. At most 8 MiB of UTF-8. */
  readonly input?: string
  readonly limits?: SnippetLimits
  /** `fixed`, the default: the clock stays at 1970-01-01T00:00:00Z. */
  readonly clock?: 'fixed' | 'real'
  /** `fixed`, the default: `Math.random` gives the same numbers in each run. */
  readonly randomness?: 'fixed' | 'real'
}

export interface SnippetLimits {
  /** Wall-clock time in milliseconds, a whole number from 1 to 60 000. Default 1000. */
  readonly wall_ms?: number
  /** All emits together, in KiB of UTF-8, a whole number from 1 to 16 384. Default 64. */
  readonly output_kb?: number
}

/**
 * - `INVALID_INPUT`: the request is wrong; the message names the field. Nothing ran.
 * - `EVAL_ERROR`: the program does not compile, or did not catch its own error.
 * - `TIMEOUT`: it ran longer than `wall_ms`.
 * - `OUTPUT_LIMIT`: it emitted more than `output_kb`; what fitted is in `output`.
 * - `MEMORY_LIMIT`: it needed more than 32 MiB, and did not catch that.
 */
export type SnippetErrorCode = 'INVALID_INPUT' | 'EVAL_ERROR' | 'TIMEOUT' | 'OUTPUT_LIMIT' | 'MEMORY_LIMIT'

export interface SnippetError {
  readonly code: SnippetErrorCode
  /** For an `EVAL_ERROR` the engine's text: guest text of at most some 16 KiB. */
  readonly message: string
}

export type SnippetResult =
  | {
      /** Everything that a completed program emitted. */
      readonly output: string
      readonly error?: undefined
    }
  | {
      /** After an OUTPUT_LIMIT, the part that fitted; otherwise absent. */
      readonly output?: string
      readonly error: SnippetError
    }
