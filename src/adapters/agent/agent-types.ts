/** What an agent executor takes and returns. */
import type { Clock } from '../../core/clock.ts'
import type { ErrorCode } from '../../core/errors/errors.ts'
import type { Validation, ValidationMode } from '../../core/validation.ts'
import type { ExecutionMonitor } from '../../observe/execution-monitor.ts'
import type { BreakerOptions } from '../../policy/circuit-breaker.ts'
import type { ExecutionPoolOptions } from '../../policy/execution-pool.ts'
import type { RateOptions } from '../../policy/rate-limiter.ts'
import type { RetryOptions } from '../../policy/retry.ts'
import type { AllowedImports } from '../../policy/validation/input-validator.ts'
import type { ValidatedLanguage } from '../../policy/validation/rules.ts'
import type { SubprocessMetadata } from './metadata.ts'
import type { SubprocessLimits } from './subprocess-executor.ts'

export interface ValidationOptions {
  /** `off`; `warn`: the result has the findings; `enforce`: programs of risk `high` are refused. Default `warn`. */
  readonly mode?: ValidationMode
  /** See `InputValidatorOptions.imports`. */
  readonly imports?: AllowedImports
}

/** A program exceeded its time and was killed. */
export interface TimeoutEvent {
  /** SHA-256 of the code, in hexadecimal. */
  readonly codeHash: string
  /** Undefined if the caller did not name a client. */
  readonly client: string | undefined
  readonly durationMs: number
}

export interface AgentExecutorOptions extends SubprocessLimits {
  readonly validation?: ValidationOptions
  /** Executions per client and minute, or false for no limit. Default 30. */
  readonly rate?: RateOptions | false
  /** Default: 10 run, and 50 wait in the queue, each for at most a minute. */
  readonly queue?: Omit<ExecutionPoolOptions, 'clock'>
  /** Default: on, with the breaker's own defaults. */
  readonly breaker?: BreakerOptions | false
  /** Retries after faults, and after the Lazaret has refused for lack of room. Default: 3 retries; false means none. */
  readonly retry?: Pick<RetryOptions, 'retriesMax' | 'firstPauseMs' | 'pauseMsMax'> | false
  /** Counts executions. Default: the executor's own monitor. */
  readonly monitor?: ExecutionMonitor
  /** Errors that it throws are ignored. */
  readonly onTimeout?: (event: TimeoutEvent) => void
  /** For tests. */
  readonly clock?: Clock
}

export interface AgentExecution {
  /** The whole program. */
  readonly code: string
  readonly language: ValidatedLanguage
  /** For human readers; returned with the metadata. At most 1000 characters. */
  readonly description?: string
  /** The client, for rates, fair queues, breakers and the audit log. All executions without one count as one client. */
  readonly clientId?: string
  /** Overrides the executor's value; the Lazaret's ceilings apply. */
  readonly timeoutSeconds?: number
  /** Aborting it ends the execution, even in the queue. */
  readonly signal?: AbortSignal
}

export const phaseNames = ['admit', 'validate', 'run', 'capture', 'record'] as const
export type PhaseName = (typeof phaseNames)[number]

export interface AgentMetadata extends SubprocessMetadata {
  /** The run's id, as in the audit log. */
  readonly run_id?: string
  readonly description?: string
  /** The number of attempts; 0 if there was none. */
  readonly attempts: number
  /** The time in the queue. */
  readonly queued_ms: number
  /** Present if validation read the code. */
  readonly validation?: Validation
  /** The code of a refusal or fault. */
  readonly code?: ErrorCode
  /** The time after which a retry may succeed. */
  readonly retry_after_ms?: number
  /** Milliseconds that each phase took; 0 for phases that were not reached. */
  readonly phases_ms: Readonly<Record<PhaseName, number>>
}

export interface AgentResult {
  /** Whether the program ran, and ended on its own with exit code 0. */
  readonly success: boolean
  /** stdout, then stderr; guest text. Empty if it did not run. */
  readonly output: string
  /** What went wrong, unless it succeeded. */
  readonly error?: string
  readonly metadata: AgentMetadata
}

export interface AgentExecutor extends AsyncDisposable {
  /** Counts executions: `monitor.snapshot()`. */
  readonly monitor: ExecutionMonitor
  /**
   * Admits, validates, runs, captures and records. It never rejects because of the program, a refusal or a fault: all
   * of these are values.
   */
  execute(execution: AgentExecution): Promise<AgentResult>
  /** Prepares everything that the first execution would otherwise wait for. */
  warmUp(): Promise<void>
  /** Ends its executions, but does not dispose the Lazaret. */
  [Symbol.asyncDispose](): Promise<void>
}
