/** Executes programs, each in its own cell, with the default limits for agents' programs. */
import type { RunRequest } from '../../core/request.ts'
import type { RunResult } from '../../core/result.ts'
import type { ValidatedLanguage } from '../../policy/validation/rules.ts'
import { sayError, toMetadata } from './metadata.ts'
import type { SubprocessMetadata } from './metadata.ts'
import { readSubprocessOptions } from './read-options.ts'

/** The part of a Lazaret that executors use. */
export interface RunsCode {
  run(request: RunRequest): Promise<RunResult>
}

export interface SubprocessLimits {
  /** In seconds, for executions without their own value. Default 30. The Lazaret's ceilings apply. */
  readonly timeoutSeconds?: number
  /** MiB; default 512. */
  readonly memoryLimitMb?: number
  /** Open descriptors of one process. Default 100. */
  readonly openFilesMax?: number
  /**
   * Whether programs may start processes and threads. Default false: Python can start neither. The JavaScript engine
   * needs threads, and the kernel counts both alike, so its programs may have 16 together.
   */
  readonly canFork?: boolean
}

export interface SubprocessExecutorOptions extends SubprocessLimits {
  readonly lazaret: RunsCode
}

export interface SubprocessExecution {
  readonly code: string
  /** Default `python`. */
  readonly language?: ValidatedLanguage
  /** The client that the execution is for. */
  readonly clientId?: string
  /** Overrides the executor's value. */
  readonly timeoutSeconds?: number
  /** Aborting it kills the program. */
  readonly signal?: AbortSignal
}

export interface SubprocessResult {
  /** Whether it ended on its own, with exit code 0. */
  readonly success: boolean
  /** stdout, then stderr, kept up to the limit whatever the outcome; guest text. */
  readonly output: string
  /** What went wrong, unless it succeeded. */
  readonly error?: string
  readonly metadata: SubprocessMetadata
  /** The complete result of the run. */
  readonly result: RunResult
}

export const subprocessDefaults = { timeoutSeconds: 30, memoryLimitMb: 512, openFilesMax: 100 }

const MiB = 1024 * 1024
/** The engine's minimum, and a few more. */
const threadsOfJavaScript = 16

export class SubprocessExecutor {
  readonly #options: SubprocessExecutorOptions

  constructor(options: SubprocessExecutorOptions) {
    this.#options = readSubprocessOptions(options)
  }

  /**
   * Resolves whatever the program does.
   *
   * @throws {LazaretError} what `lazaret.run()` throws: refusals and faults.
   */
  async execute(execution: SubprocessExecution): Promise<SubprocessResult> {
    return describeRun(await this.#options.lazaret.run(requestOf(execution, this.#options)))
  }
}

export function requestOf(
  { code, language = 'python', clientId, timeoutSeconds, signal }: SubprocessExecution,
  limits: SubprocessLimits,
): RunRequest {
  const {
    memoryLimitMb = subprocessDefaults.memoryLimitMb,
    openFilesMax = subprocessDefaults.openFilesMax,
    canFork = false,
  } = limits
  const seconds = timeoutSeconds ?? limits.timeoutSeconds ?? subprocessDefaults.timeoutSeconds
  const processesMax = language === 'python' ? 1 : threadsOfJavaScript
  return {
    code,
    language,
    limits: {
      wallMs: Math.ceil(seconds * 1000),
      memoryBytes: Math.round(memoryLimitMb * MiB),
      openFilesMax,
      ...(canFork ? {} : { processesMax }),
    },
    ...(clientId === undefined ? {} : { client: clientId }),
    ...(signal === undefined ? {} : { signal }),
  }
}

export function describeRun(result: RunResult): SubprocessResult {
  const error = sayError(result.outcome)
  return {
    success: error === undefined,
    output: result.stdout + result.stderr,
    ...(error === undefined ? {} : { error }),
    metadata: toMetadata(result),
    result,
  }
}
