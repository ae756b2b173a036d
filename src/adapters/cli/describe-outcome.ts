/** One line that says how a run ended and what to do about it. */
import type { GuestError, Outcome } from '../../core/outcome.ts'
import { exitCodeOf } from './exit-code.ts'
import { toSingleLine } from './terminal-text.ts'
import { formatDuration, formatSize } from './units.ts'

/**
 * Nothing for a program that ended by itself: its exit code is its own message. Nothing for a cancelled run either:
 * a command can be cancelled before it has a run, so that is announced in program.ts.
 */
export function describeOutcome(outcome: Outcome): string | undefined {
  switch (outcome.kind) {
    case 'completed':
    case 'cancelled':
      return undefined
    case 'failed':
      return `failed: ${describeError(outcome.error)}, exit ${exitCodeOf(outcome)}`
    case 'syntax-error':
      return `not valid code: ${describeError(outcome.error)}`
    case 'timed-out':
      return `timed out after ${formatDuration(outcome.limitMs)} (${outcome.limit}). Raise --${outcome.limit === 'wall' ? 'timeout' : 'cpu'} if the program needs longer.`
    case 'out-of-memory':
      return `out of memory at ${formatSize(outcome.limitBytes)}. Raise --memory if the program needs more.`
    case 'limit-exceeded':
      return describeLimit(outcome)
    case 'denied':
      return `denied: the program tried to use ${toSingleLine(outcome.what)}, which is not allowed.`
    case 'killed':
      return `killed by ${toSingleLine(outcome.signal)}${explain[outcome.signal] ?? ''}, exit ${exitCodeOf(outcome)}`
  }
}

/** Signals with which the kernel answers a limit, when nothing else proves that it did. */
const explain: Readonly<Record<string, string>> = {
  SIGXFSZ: ' (a file above the disk limit, see --disk)',
  SIGXCPU: ' (processor time, see --cpu)',
}

function describeLimit({ limit, allowed }: Extract<Outcome, { kind: 'limit-exceeded' }>): string {
  const bound =
    limit === 'processes' ? `${allowed} processes and threads` : `${formatSize(allowed)} of ${limit}`
  return `over its limit of ${bound}. Raise --${limit} if the program needs more.`
}

function describeError({ name, message, line, column }: GuestError): string {
  const what = toSingleLine(message === '' ? name : `${name}: ${message}`)
  if (line === undefined) return what
  return `${what} (<code>:${line}${column === undefined ? '' : `:${column}`})`
}
