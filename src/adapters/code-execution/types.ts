/** The shapes of the code-execution service. */
import type { LazaretOptions } from '../../engine/options/options.ts'
import type { SlotEvent } from '../../pool/slots.ts'

export interface CodeExecutionParams {
  /** A program that may read `input` and assign `output`. It may `await` and `return`. */
  readonly code: string
  readonly language: 'javascript' | 'typescript'
  /** `input` of the program: a copy, made through JSON. Absent: `undefined`. */
  readonly inputData?: unknown
  /** 0.001 to 120. Default 30. */
  readonly timeoutSeconds?: number
  /** The size of the program's heap: 8 to 512. Default 128. */
  readonly memoryLimitMB?: number
  /** Functions that the program calls as `await bridge.name(argument)`. Arguments and answers are JSON. */
  readonly bridge?: Readonly<Record<string, (argument: unknown) => unknown>>
  /** Default 100. */
  readonly maxBridgeCalls?: number
  /** Aborting it ends the program; the result is TIMEOUT with the text of the reason. */
  readonly signal?: AbortSignal
  /** The client that the program is for. A worker serves only one client. */
  readonly client?: string
}

export type CodeExecutionErrorType =
  | 'TIMEOUT'
  | 'MEMORY_LIMIT'
  | 'SYNTAX_ERROR'
  | 'RUNTIME_ERROR'
  | 'SECURITY_ERROR'

/** The result of a program. A refusal has an `error` and no `errorType`. */
export interface CodeExecutionResult {
  readonly success: boolean
  /** What the program assigned to `output`, converted through JSON. */
  readonly output?: unknown
  /** The console's calls, one line each, which begins with the level. Absent if there are none. */
  readonly logs?: readonly string[]
  readonly error?: string
  /** Decided by what ended the program, never by the text of an error. */
  readonly errorType?: CodeExecutionErrorType
  /** Wall-clock milliseconds from the program's start to its end. */
  readonly executionTimeMs?: number
  /** Parameters that were changed before they were used. */
  readonly warnings?: readonly string[]
}

export interface WorkerPoolOptions {
  /** Workers: processes, each in its own cell. Default 2. */
  readonly poolSize?: number
  /** The longest queue of programs. Default 100. */
  readonly maxQueueSize?: number
  /** How many crashes of its workers disable a slot. Default 3. */
  readonly maxCrashesPerWorker?: number
  /** The period, in milliseconds, in which crashes are counted together. Default 60 000. */
  readonly crashTimeWindow?: number
  /** Libraries by name, each a path to a CommonJS file or its text. They are added to the seven default ones. */
  readonly libraries?: Readonly<Record<string, string>>
  /** Whether `libraries` replaces the default ones. Default false. */
  readonly replaceLibraries?: boolean
  /** Receives messages about workers that crash, restart and are disabled. Default: none. */
  readonly logger?: { warn(message: string): void; error(message: string): void }
  /** Called at every change of a worker. */
  readonly onEvent?: (event: SlotEvent) => void
  /** Options of the pool's Lazaret. */
  readonly engine?: LazaretOptions
}

export type { SlotEvent }

export interface PoolStats {
  /** All slots, including disabled ones. */
  readonly totalWorkers: number
  /** Slots that can serve. */
  readonly activeWorkers: number
  readonly busyWorkers: number
  readonly queueLength: number
}
