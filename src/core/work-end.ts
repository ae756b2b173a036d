import type { Outcome } from './outcome.ts'
import type { Signature, Statement, Usage } from './receipt.ts'
import type { WorkOutcome } from './work.ts'

/** How a piece of work ended. */
export interface WorkEnd {
  readonly outcome: WorkOutcome
  /** The error's code, if it had one. */
  readonly code?: string
  /** What a program exited with. */
  readonly exitCode?: number
  /** What a program used. */
  readonly usage?: Usage
  /** What is stated of a run, where somebody wants to know. */
  readonly statement?: Statement
  /** That of its receipt. */
  readonly signature?: Signature
}

export function endOfProgram(outcome: Outcome): WorkEnd {
  return { outcome: outcome.kind, ...('exitCode' in outcome ? { exitCode: outcome.exitCode } : {}) }
}
