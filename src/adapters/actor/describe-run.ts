/** What a run was, in the words of this door. */
import type { GuestError, Outcome } from '../../core/outcome.ts'
import type { LogEntry, RunResult } from '../../core/result.ts'
import type { Execution } from './check-message.ts'
import type { Answer } from './message.ts'
import { toPlainJson } from './plain-json.ts'

const MiB = 1024 * 1024

const prefixes: Readonly<Record<LogEntry['level'], string>> = {
  log: '',
  error: 'ERROR: ',
  warn: 'WARN: ',
  info: 'INFO: ',
  debug: 'DEBUG: ',
}

/** The keys of a payload stand in the order that others know. */
export function describeRun(result: RunResult, execution: Execution): Answer {
  const { outcome, usage } = result
  const logs = result.logs.map(({ level, text }) => prefixes[level] + text)
  if (result.truncated.includes('logs')) logs.push('[more was logged than is kept]')
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

/** `undefined` when the code did what it should. */
function describeFailure(outcome: Outcome, { timeoutMs }: Execution): string | undefined {
  switch (outcome.kind) {
    case 'completed':
      return outcome.exitCode === 0 ? undefined : `The program ended with exit code ${outcome.exitCode}`
    case 'failed':
      return describeError(outcome.error)
    case 'syntax-error':
      return describeSyntaxError(outcome.error)
    case 'timed-out':
      return outcome.limit === 'wall'
        ? // A Lazaret that is shared may allow less than the message asks for.
          `Execution timed out after ${Math.min(timeoutMs, outcome.limitMs)}ms (process killed)`
        : `Execution used more than ${outcome.limitMs}ms of processor time (process killed)`
    case 'out-of-memory':
      return `Execution used more than ${Math.floor(outcome.limitBytes / MiB)} MiB of memory (process killed)`
    case 'limit-exceeded':
      return `Execution went over the limit on ${outcome.limit}, which is ${outcome.allowed} (process killed)`
    case 'denied':
      return `Execution was denied ${outcome.what} (process killed)`
    case 'killed':
      return `Execution ended by the signal ${outcome.signal}`
    case 'cancelled':
      return 'Execution was cancelled (process killed)'
  }
}

/** The guest's own words. */
function describeError({ name, message }: GuestError): string {
  return message === '' ? name : message
}

function describeSyntaxError({ name, message, line, column }: GuestError): string {
  const place = line === undefined || column === undefined ? '' : ` (line ${line}, column ${column})`
  return `${name}: ${message}${place}`
}
