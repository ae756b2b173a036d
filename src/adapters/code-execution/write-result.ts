/** Turns evidence into the result of the service. The text of an error decides nothing. */
import { LazaretError } from '../../core/errors/errors.ts'
import { sayOutcome } from '../../core/outcome.ts'
import type { SettledRun } from '../../engine/runs/runs.ts'
import type { ReadParams } from './read-params.ts'
import { textOf } from './text-of.ts'
import type { CodeExecutionErrorType, CodeExecutionResult } from './types.ts'

/** The result of a program that ran. */
export function writeResult({ result, exit }: SettledRun, asked: ReadParams): CodeExecutionResult {
  const logs = result.logs.map(({ text }) => text)
  const { output, ...rest } = describe({ result, exit }, asked)
  return {
    ...rest,
    // The value as plain JSON; tags of Lazaret's encoding have no meaning.
    ...(output !== undefined && { output }),
    ...(logs.length > 0 && { logs }),
    executionTimeMs: result.usage.wallMs,
    ...withWarnings(asked),
  }
}

type Told = Pick<CodeExecutionResult, 'success' | 'output' | 'error' | 'errorType'>

function describe({ result, exit }: SettledRun, asked: ReadParams): Told {
  const { outcome } = result
  const said = exit.claims.error?.error
  switch (outcome.kind) {
    case 'completed':
      if (result.truncated.includes('value'))
        return fail('RUNTIME_ERROR', 'The output is too large, or nested too deeply')
      return { success: true, output: exit.claims.value?.tagged }
    case 'timed-out':
      return fail('TIMEOUT', `Code execution exceeded timeout of ${asked.timeoutSeconds} seconds`)
    case 'out-of-memory':
      return fail('MEMORY_LIMIT', `Code execution exceeded memory limit of ${asked.memoryLimitMB} MB`)
    case 'syntax-error': {
      const { message, line } = outcome.error
      return fail('SYNTAX_ERROR', line === undefined ? message : `${message} (line ${line})`)
    }
    case 'denied':
      return fail('SECURITY_ERROR', said?.message ?? outcome.what)
    case 'failed':
      return fail('RUNTIME_ERROR', outcome.error.message)
    case 'killed':
      return fail('RUNTIME_ERROR', 'Worker process crashed')
    case 'cancelled':
      return fail('TIMEOUT', reasonOf(asked.handles.signal))
    case 'limit-exceeded':
      return fail('RUNTIME_ERROR', `Code execution ${sayOutcome(outcome)}`)
  }
}

const fail = (errorType: CodeExecutionErrorType, error: string): Told => ({
  success: false,
  error,
  errorType,
})

/** Nothing ran: no `errorType`. */
export function writeRefusal(error: string, asked?: ReadParams): CodeExecutionResult {
  return { success: false, error, ...(asked !== undefined && withWarnings(asked)) }
}

export const shuttingDown = 'Worker pool is shutting down'

/** The message for an error that the engine threw. */
export function explainThrown(thrown: unknown, queueLength: number): string {
  if (!(thrown instanceof LazaretError)) return `The service failed: ${textOf(thrown)}`
  if (thrown.code === 'QUEUE_FULL')
    return `Request queue is full (${queueLength} pending requests). Please try again later.`
  return thrown.code === 'DISPOSED' ? shuttingDown : `${thrown.message} ${thrown.hint}`
}

function withWarnings({ warnings }: ReadParams): Pick<CodeExecutionResult, 'warnings'> {
  return warnings.length > 0 ? { warnings } : {}
}

function reasonOf(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason
  const unknown = 'The program was aborted'
  try {
    return reason instanceof Error || typeof reason === 'string' ? textOf(reason) : unknown
  } catch {
    // The caller may have passed a proxy.
    return unknown
  }
}
