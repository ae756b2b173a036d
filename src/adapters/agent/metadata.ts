/** What an executor reports about a run, under the names that its contract defines. Pure. */
import { exitCodeOf, sayOutcome } from '../../core/outcome.ts'
import type { Outcome } from '../../core/outcome.ts'
import type { RunResult } from '../../core/result.ts'

export interface SubprocessMetadata {
  /** The program's own time. */
  readonly duration_ms: number
  /**
   * The exit code; for a program that a signal ended, minus the signal's number, such as -11 for a segmentation fault.
   * -9 if it was killed because of a limit. Null if it did not run.
   */
  readonly exit_code: number | null
  /** Whether it was killed because it exceeded its limit on wall-clock or processor time. */
  readonly timeout_triggered: boolean
  /** The limits that were in force. */
  readonly memory_limit_mb: number
  readonly timeout_seconds: number
}

const MiB = 1024 * 1024
/** A shell's exit code for a program that a signal ended is this plus the signal's number. */
const signalBase = 128
const killed = -9

/** The metadata of any run's result. */
export function toMetadata({
  outcome,
  usage,
  receipt,
}: Pick<RunResult, 'outcome' | 'usage' | 'receipt'>): SubprocessMetadata {
  const { memoryBytes, wallMs } = receipt.limits
  return {
    duration_ms: Math.round(usage.wallMs),
    exit_code: exitCode(outcome),
    timeout_triggered: outcome.kind === 'timed-out',
    memory_limit_mb: Number(memoryBytes.value) / MiB,
    timeout_seconds: Number(wallMs.value) / 1000,
  }
}

function exitCode(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'completed':
    case 'failed':
      return exitCodeOf(outcome)
    case 'syntax-error':
    case 'denied':
      return 1
    case 'killed':
      return signalBase - exitCodeOf(outcome)
    case 'timed-out':
    case 'out-of-memory':
    case 'limit-exceeded':
    case 'cancelled':
      return killed
  }
}

/** Undefined if the program succeeded. Guest text, bounded. */
export function sayError(outcome: Outcome): string | undefined {
  if (outcome.kind === 'completed' && outcome.exitCode === 0) return undefined
  if (outcome.kind !== 'failed' && outcome.kind !== 'syntax-error')
    return `The program ${sayOutcome(outcome)}.`
  const { name, message, line } = outcome.error
  const place = line === undefined ? '' : ` (line ${line})`
  return `${`${name}: ${message}`.slice(0, errorLengthMax)}${place}`
}

const errorLengthMax = 4000
