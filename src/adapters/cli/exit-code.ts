/** The exit code of a run that ended. Refusals and faults carry theirs in the error table. */
import { constants } from 'node:os'
import type { Outcome } from '../../core/outcome.ts'

export function exitCodeOf(outcome: Outcome): number {
  switch (outcome.kind) {
    case 'completed':
      return outcome.exitCode
    case 'failed':
      // A failure never looks like success, whatever the guest's process made of it.
      return outcome.exitCode === 0 ? 1 : outcome.exitCode
    case 'syntax-error':
      return 65
    case 'timed-out':
      return 124
    case 'limit-exceeded':
    case 'denied':
      return 125
    case 'out-of-memory':
      return 137
    case 'killed':
      return 128 + signalNumber(outcome.signal)
    case 'cancelled':
      return 130
  }
}

/** Real-time signals have no name in Node and arrive with their number. */
function signalNumber(signal: string): number {
  const known = Object.entries(constants.signals).find(([name]) => name === signal)
  return known?.[1] ?? Number(/\d+$/.exec(signal)?.[0] ?? 0)
}
