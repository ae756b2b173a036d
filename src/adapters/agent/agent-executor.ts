/**
 * An agent's execution from start to end: it is admitted, validated, run in its own cell, captured and recorded. The
 * Lazaret below it applies its own rules for admission and records, too.
 */
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Validation } from '../../core/validation.ts'
import { endOfError, endOfProgram } from '../../core/work-end.ts'
import type { WorkEnd } from '../../core/work-end.ts'
import type { Work } from '../../core/work.ts'
import { sha256 } from '../../observe/digest.ts'
import { ExecutionMonitor } from '../../observe/execution-monitor.ts'
import { policyOf } from '../../policy/admit.ts'
import type { Policy } from '../../policy/admit.ts'
import { createBreakers } from '../../policy/breaking.ts'
import { queueText, sizeOf } from '../../policy/execution-pool.ts'
import { rateDefaults, RateLimiter } from '../../policy/rate-limiter.ts'
import { retry } from '../../policy/retry.ts'
import { Room } from '../../policy/room.ts'
import { requireAcceptable } from '../../policy/validation/enforce.ts'
import { markValidated } from '../../policy/validation/validated.ts'
import { InputValidator } from '../../policy/validation/input-validator.ts'
import type {
  AgentExecution,
  AgentExecutor,
  AgentExecutorOptions,
  AgentMetadata,
  AgentResult,
} from './agent-types.ts'
import { Phases } from './phases.ts'
import { readExecution } from './read-execution.ts'
import { readExecutorOptions } from './read-options.ts'
import { describeRun, requestOf, subprocessDefaults } from './subprocess-executor.ts'
import type { RunsCode, SubprocessResult } from './subprocess-executor.ts'

/**
 * Creates an executor on a Lazaret, with the limits, the rate, the queue and the breaker that programs of agents get.
 *
 * @example
 * ```ts
 * await using executor = createAgentExecutor(lazaret)
 * const { success, output, error } = await executor.execute({ code: 'print(1)', language: 'python', clientId: 'ada' })
 * ```
 */
export function createAgentExecutor(lazaret: RunsCode, options: AgentExecutorOptions = {}): AgentExecutor {
  return new Executor(lazaret, readExecutorOptions(lazaret, options))
}

/** What is known about an execution so far. */
interface Progress {
  readonly phases: Phases
  execution?: AgentExecution
  validation?: Validation
  attempts: number
  queuedMs: number
}

class Executor implements AgentExecutor {
  readonly monitor: ExecutionMonitor
  readonly #lazaret: RunsCode
  readonly #options: AgentExecutorOptions
  readonly #clock: Clock
  readonly #policy: Policy
  readonly #validator: InputValidator
  readonly #closing = new AbortController()
  readonly #open = new Set<Promise<unknown>>()

  constructor(lazaret: RunsCode, options: AgentExecutorOptions) {
    const { clock = systemClock, monitor = new ExecutionMonitor({ clock }), validation = {} } = options
    this.#lazaret = lazaret
    this.#options = options
    this.#clock = clock
    this.monitor = monitor
    this.#policy = createPolicy(options, clock)
    const { imports } = validation
    this.#validator = new InputValidator({ lazaret, clock, ...(imports === undefined ? {} : { imports }) })
  }

  async execute(asked: AgentExecution): Promise<AgentResult> {
    const work = this.#execute(asked)
    this.#open.add(work)
    try {
      return await work
    } finally {
      this.#open.delete(work)
    }
  }

  warmUp(): Promise<void> {
    return this.#validator.warmUp()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort(new LazaretError('DISPOSED', disposed))
    await Promise.allSettled(this.#open)
    await this.#validator[Symbol.asyncDispose]()
  }

  async #execute(asked: AgentExecution): Promise<AgentResult> {
    const progress: Progress = { phases: new Phases(this.#clock), attempts: 0, queuedMs: 0 }
    try {
      this.#closing.signal.throwIfAborted()
      const execution = readExecution(asked)
      progress.execution = execution
      return await this.#admitted(execution, progress)
    } catch (error) {
      const { client, ended } = { client: progress.execution?.clientId, ended: endOfError(error) }
      this.#tell(ended, { client, durationMs: 0 })
      return this.#describeError(error, progress)
    }
  }

  async #admitted(execution: AgentExecution, progress: Progress): Promise<AgentResult> {
    const { phases } = progress
    const { signal: own } = execution
    const signal = own === undefined ? this.#closing.signal : AbortSignal.any([own, this.#closing.signal])
    const withSignal = { ...execution, signal }
    const ticket = await phases.time('admit', () => this.#policy.admit(this.#workOf(withSignal), signal))
    progress.queuedMs = ticket.queuedMs
    try {
      await phases.time('validate', () => this.#validate(withSignal, progress))
      const run = () =>
        this.#lazaret.run(markValidated(requestOf(withSignal, this.#options), progress.validation))
      const result = await phases.time('run', () => this.#retry(run, withSignal, progress))
      const described = await phases.time('capture', () => describeRun(result))
      await phases.time('record', () => {
        const ended = endOfProgram(result.outcome)
        ticket.ended?.(ended)
        this.#record(execution, described, ended)
      })
      return this.#describe(described, progress)
    } catch (error) {
      ticket.ended?.(endOfError(error))
      throw error
    } finally {
      await ticket[Symbol.asyncDispose]()
    }
  }

  async #validate(execution: AgentExecution, progress: Progress): Promise<void> {
    const { mode = 'warn' } = this.#options.validation ?? {}
    if (mode === 'off') return
    const { code, language, clientId: client, signal } = execution
    const asking = {
      ...(client === undefined ? {} : { client }),
      ...(signal === undefined ? {} : { signal }),
    }
    const read = () => this.#validator.validate(code, language, asking)
    progress.validation = await this.#retry(read, execution, { attempts: 0 })
    if (mode === 'enforce') requireAcceptable(progress.validation)
  }

  #retry<T>(act: () => Promise<T>, { signal }: AgentExecution, counter: { attempts: number }): Promise<T> {
    const { retry: asked = {} } = this.#options
    const numbers = asked === false ? { retriesMax: 0 } : asked
    const attempt = () => {
      counter.attempts++
      return act()
    }
    return retry(attempt, { ...numbers, clock: this.#clock, ...(signal === undefined ? {} : { signal }) })
  }

  #workOf(execution: AgentExecution): Work {
    const { code, language, limits = {}, client } = requestOf(execution, this.#options)
    const runtime = language === 'python' ? 'python' : 'bun'
    return { kind: 'run', id: this.#clock.id(), client, runtime, limits, spec: { code, language } }
  }

  #record({ code, clientId: client }: AgentExecution, { result }: SubprocessResult, ended: WorkEnd): void {
    const durationMs = result.usage.wallMs
    this.#tell(ended, { client, durationMs })
    const { onTimeout } = this.#options
    if (ended.outcome !== 'timed-out' || onTimeout === undefined) return
    quietly(() => onTimeout({ codeHash: sha256(code), client, durationMs }))
  }

  #tell(
    { outcome, exitCode }: WorkEnd,
    { client, durationMs }: { readonly client: string | undefined; readonly durationMs: number },
  ): void {
    const event = {
      ...{ type: 'work-ended', kind: 'run', outcome, wallMs: durationMs },
      ...(client === undefined ? {} : { client }),
      ...(exitCode === undefined ? {} : { exitCode }),
    }
    quietly(() => this.monitor.hear(event))
  }

  #describe({ success, output, error, metadata, result }: SubprocessResult, progress: Progress): AgentResult {
    const queuedMs = progress.queuedMs + result.usage.queuedMs
    return {
      success,
      output,
      ...(error === undefined ? {} : { error }),
      metadata: { ...metadata, run_id: result.id, ...describeProgress({ ...progress, queuedMs }) },
    }
  }

  #describeError(error: unknown, progress: Progress): AgentResult {
    const { execution } = progress
    if (!(error instanceof LazaretError) && execution?.signal?.aborted !== true) throw error
    const {
      memoryLimitMb = subprocessDefaults.memoryLimitMb,
      timeoutSeconds = subprocessDefaults.timeoutSeconds,
    } = this.#options
    const { code, retryAfterMs, message } = error instanceof LazaretError ? error : cancelled
    return {
      success: false,
      output: '',
      error: message,
      metadata: {
        ...{ duration_ms: 0, exit_code: null, timeout_triggered: false, memory_limit_mb: memoryLimitMb },
        timeout_seconds: execution?.timeoutSeconds ?? timeoutSeconds,
        ...describeProgress(progress),
        ...(code === undefined ? {} : { code }),
        ...(retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs }),
      },
    }
  }
}

/** Observers have no influence: if one throws, the result is returned anyway. */
function quietly(tell: () => void): void {
  try {
    tell()
  } catch {
    // The defect is the observer's, and there is nobody else to tell.
  }
}

/** Its Lazaret may still be open. */
const disposed = {
  message: 'This executor was disposed.',
  hint: 'Create another with createAgentExecutor(), or await its executions before its scope ends.',
}

/** For a cancellation before the run; during the run, a cancellation is an outcome. */
const cancelled = { message: 'The execution was cancelled.', code: undefined, retryAfterMs: undefined }

type ProgressMetadata = Pick<
  AgentMetadata,
  'description' | 'attempts' | 'queued_ms' | 'validation' | 'phases_ms'
>

function describeProgress({ phases, execution, validation, attempts, queuedMs }: Progress): ProgressMetadata {
  const description = execution?.description
  return {
    ...(description === undefined ? {} : { description }),
    attempts,
    queued_ms: queuedMs,
    ...(validation === undefined ? {} : { validation }),
    phases_ms: phases.ms,
  }
}

function createPolicy(options: AgentExecutorOptions, clock: Clock): Policy {
  const { rate = rateDefaults, queue = {}, breaker = {} } = options
  return policyOf({
    breakers: breaker === false ? undefined : createBreakers(breaker, clock),
    rate: rate === false ? undefined : new RateLimiter({ ...rate, clock }),
    room: new Room({ ...sizeOf(queue), clock, refusalText: queueText, isShared: true }),
  })
}
