/** Describes a run in the terms of the actor protocol. */
import { sayOutcome } from '../../core/outcome.ts'
import type { GuestError, Outcome } from '../../core/outcome.ts'
import type { LogEntry } from '../../core/output.ts'
import type { RunResult } from '../../core/result.ts'
import type { Execution } from './check-message.ts'
import type { Answer } from './message.ts'
import { toPlainJson } from './plain-json.ts'

const prefixes: Readonly<Record<LogEntry['level'], string>> = {
  log: '',
  error: 'ERROR: ',
  warn: 'WARN: ',
  info: 'INFO: ',
  debug: 'DEBUG: ',
}

/** The keys of a payload have the order that callers know. */
export function describeRun(result: RunResult, execution: Execution): Answer {
  const { outcome, usage } = result
  const logs = result.logs.map(({ level, text }) => prefixes[level] + text)
  if (result.truncated.includes('logs')) logs.push('[further log entries were dropped]')
  const executionTime = Math.round(usage.wallMs)
  const error = describeFailure(outcome, execution)
  if (error === undefined) {
    const value = toPlainJson(result.valueTagged)
    const { language } = execution
    const found = value === undefined ? {} : { result: value }
    return { success: true, payload: { ...found, logs, executionTime, language } }
  }
  const isTimeout = outcome.kind === 'timed-out'
  return {
    success: false,
    error,
    payload: { logs, executionTime, ...(isTimeout ? { killedByTimeout: true } : {}) },
  }
}

/** `undefined` if the code succeeded. */
function describeFailure(outcome: Outcome, { timeoutMs }: Execution): string | undefined {
  switch (outcome.kind) {
    case 'completed':
      return outcome.exitCode === 0 ? undefined : `The program ended with exit code ${outcome.exitCode}`
    case 'failed':
      return describeError(outcome.error)
    case 'syntax-error':
      return describeSyntaxError(outcome.error)
    case 'killed':
      return `Execution ${sayOutcome(outcome)}`
    case 'timed-out': {
      // A shared Lazaret may allow less than the message asks for.
      const limitMs = outcome.limit === 'wall' ? Math.min(timeoutMs, outcome.limitMs) : outcome.limitMs
      return `Execution ${sayOutcome({ ...outcome, limitMs })} (process killed)`
    }
    default:
      return `Execution ${sayOutcome(outcome)} (process killed)`
  }
}

/** Guest text. */
function describeError({ name, message }: GuestError): string {
  return message === '' ? name : message
}

function describeSyntaxError({ name, message, line, column }: GuestError): string {
  const place = line === undefined || column === undefined ? '' : ` (line ${line}, column ${column})`
  return `${name}: ${message}${place}`
}
