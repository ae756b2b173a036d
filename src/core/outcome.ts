/** An error of the guest's own program, in the guest's own lines. Guest text: bounded, untrusted. */
export interface GuestError {
  readonly name: string
  readonly message: string
  readonly stack?: string
  /** 1-based line in the code of the request. */
  readonly line?: number
  /** 1-based column in the code of the request. */
  readonly column?: number
}

/** How a run ended. Decided from evidence that the guest cannot forge. */
export type Outcome =
  | { readonly kind: 'completed'; readonly exitCode: number }
  | { readonly kind: 'failed'; readonly error: GuestError; readonly exitCode: number }
  | { readonly kind: 'syntax-error'; readonly error: GuestError }
  | { readonly kind: 'timed-out'; readonly limit: 'wall' | 'cpu'; readonly limitMs: number }
  | { readonly kind: 'out-of-memory'; readonly limitBytes: number }
  | {
      readonly kind: 'limit-exceeded'
      readonly limit: 'output' | 'processes' | 'disk' | 'host'
      readonly allowed: number
    }
  /**
   * Something that policy forbids, on evidence of the host's own. No runtime of this version has such evidence: a call
   * that seccomp ends with SIGSYS looks to the parent like a SIGSYS that the guest sent to itself, and is `killed`.
   */
  | { readonly kind: 'denied'; readonly what: string }
  | { readonly kind: 'killed'; readonly signal: string }
  | { readonly kind: 'cancelled' }
