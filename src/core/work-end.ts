/** How a piece of work ended, as the audit log and observers receive it. */
import { LazaretError } from './errors/errors.ts'
import { sumNetwork } from './network.ts'
import type { NetworkReport, NetworkTotals } from './network.ts'
import type { Outcome } from './outcome.ts'
import type { LimitName } from './limits.ts'
import type { Signature, StartKind, Statement, Usage } from './receipt.ts'
import type { Validation } from './validation.ts'
import type { WorkOutcome } from './work.ts'

/** How a piece of work ended. */
export interface WorkEnd {
  readonly outcome: WorkOutcome
  /** The error's code, if it had one. */
  readonly code?: string
  /** The exit code of a program. */
  readonly exitCode?: number
  /** Which limit ended a program. */
  readonly limit?: ReachedLimit
  /** What a program used. */
  readonly usage?: Usage
  /** How the guest of a run or a command started. */
  readonly start?: StartKind
  /** Which limits of a run, or of a command's sandbox, were lowered. */
  readonly clamped?: readonly LimitName[]
  /** What a program did under a network policy. */
  readonly network?: NetworkTotals
  /** What validation found, if the program was read. */
  readonly validation?: Pick<Validation, 'riskLevel' | 'findings'>
  /** The statement about a run or a command, if the audit log or a receipt needs it. */
  readonly statement?: Statement
  /** The signature of its receipt. */
  readonly signature?: Signature
}

export type ReachedLimit = 'wall' | 'cpu' | 'memory' | 'output' | 'processes' | 'files' | 'disk' | 'host'

export function endOfProgram(outcome: Outcome, network?: NetworkReport): WorkEnd {
  const limit = reachedLimit(outcome)
  return {
    outcome: outcome.kind,
    ...('exitCode' in outcome ? { exitCode: outcome.exitCode } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(network === undefined ? {} : { network: sumNetwork(network) }),
  }
}

function reachedLimit(outcome: Outcome): ReachedLimit | undefined {
  if (outcome.kind === 'timed-out' || outcome.kind === 'limit-exceeded') return outcome.limit
  return outcome.kind === 'out-of-memory' ? 'memory' : undefined
}

/** The end of work that threw. */
export function endOfError(error: unknown): WorkEnd {
  if (!(error instanceof LazaretError)) return { outcome: 'fault' }
  const { kind, code, findings } = error
  return {
    outcome: kind === 'refusal' ? 'refused' : 'fault',
    code,
    // Validation refuses only code with findings of this level.
    ...(findings === undefined ? {} : { validation: { riskLevel: 'high', findings } }),
  }
}
