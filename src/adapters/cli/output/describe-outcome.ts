/** One line that says how a run ended and what to do about it. */
import type { LimitName, Limits } from '../../../core/limits.ts'
import { exitCodeOf, sayOutcome } from '../../../core/outcome.ts'
import type { GuestError, Outcome } from '../../../core/outcome.ts'
import { toSingleLine } from './terminal-text.ts'
import { formatDuration, formatSize } from '../options/units.ts'

/**
 * Nothing for a program that ended on its own, because its exit code says enough. Nothing for a cancelled run either: a
 * command can also be cancelled before its run, so program.ts reports that.
 */
export function describeOutcome(outcome: Outcome, ceilings: Partial<Limits> = {}): string | undefined {
  switch (outcome.kind) {
    case 'completed':
    case 'cancelled':
      return undefined
    case 'failed':
      return `failed: ${describeError(outcome.error)}, exit ${exitCodeOf(outcome)}`
    case 'syntax-error':
      return `not valid code: ${describeError(outcome.error)}`
    case 'timed-out':
      return `timed out after ${formatDuration(outcome.limitMs)} (${outcome.limit}). ${adviseTime(outcome, ceilings)}`
    case 'out-of-memory':
      return `out of memory at ${formatSize(outcome.limitBytes)}. ${adviseMore('memory', outcome.limitBytes, ceilings)}`
    case 'limit-exceeded':
      return describeLimit(outcome, ceilings)
    case 'denied':
      return `denied: ${toSingleLine(outcome.what)}`
    case 'killed':
      return `killed by ${toSingleLine(outcome.signal)}${explain[outcome.signal] ?? ''}, exit ${exitCodeOf(outcome)}`
    default:
      return `${sayOutcome(outcome)}.`
  }
}

/** The likely causes of signals that the kernel sends for a limit or a forbidden call, if there is no other evidence. */
const explain: Readonly<Record<string, string>> = {
  SIGXFSZ: ' (a file above the disk limit, see --disk)',
  SIGXCPU: ' (processor time, see --cpu)',
  SIGSYS: ' (a system call of a foreign architecture, unless the program sent itself the signal)',
}

function adviseTime(
  { limit, limitMs }: Extract<Outcome, { kind: 'timed-out' }>,
  ceilings: Partial<Limits>,
): string {
  return (
    explainCeiling(limit === 'wall' ? 'wallMs' : 'cpuMs', limitMs, ceilings) ??
    `Raise --${limit === 'wall' ? 'timeout' : 'cpu'} if the program needs longer.`
  )
}

/** Keys are the options that raise the limits. */
const limitNames = {
  memory: 'memoryBytes',
  output: 'outputBytes',
  processes: 'processesMax',
  disk: 'diskBytes',
} as const

function adviseMore(option: keyof typeof limitNames, allowed: number, ceilings: Partial<Limits>): string {
  return (
    explainCeiling(limitNames[option], allowed, ceilings) ?? `Raise --${option} if the program needs more.`
  )
}

/** No option raises a limit above the operator's ceiling. */
function explainCeiling(name: LimitName, value: number, ceilings: Partial<Limits>): string | undefined {
  const ceiling = ceilings[name]
  if (ceiling === undefined || ceiling === null || value < ceiling) return undefined
  return `That is the operator's ceiling, \`ceilings.${name}\`.`
}

function describeLimit(
  { limit, allowed }: Extract<Outcome, { kind: 'limit-exceeded' }>,
  ceilings: Partial<Limits>,
): string {
  if (limit === 'host') {
    const advice = explainCeiling('hostMs', allowed, ceilings)
    const bound = `over its limit of ${formatDuration(allowed)} of host time for reading and answering its messages.`
    return `${bound} ${advice ?? 'Raise `defaults.hostMs` of the configuration if it needs more.'}`
  }
  if (limit === 'files') return `over its limit of ${allowed} open files in all its processes together.`
  const bound =
    limit === 'processes' ? `${allowed} processes and threads` : `${formatSize(allowed)} of ${limit}`
  return `over its limit of ${bound}. ${adviseMore(limit, allowed, ceilings)}`
}

function describeError({ name, message, line, column }: GuestError): string {
  const what = toSingleLine(message === '' ? name : `${name}: ${message}`)
  if (line === undefined) return what
  return `${what} (<code>:${line}${column === undefined ? '' : `:${column}`})`
}
