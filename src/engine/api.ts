/** The interface that `createLazaret()` returns. */
import type { HeldStats } from '../core/host-account.ts'
import type { Clamp } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import type { EnvironmentsApi } from '../environments/environment.ts'
import type { ProbeReport } from '../jail/machine/probe-report.ts'
import type { PoolStats } from '../pool/pool.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import type { WarmUpRequest } from './warm-up.ts'

/** Runs untrusted code, each run in its own kernel jail. */
export interface Lazaret extends AsyncDisposable {
  /**
   * Executes one program once, in its own cell: a parked one or a fresh one. Whatever the guest does is a value:
   * `result.outcome`. Only refusals and Lazaret's own failures throw.
   *
   * @throws {LazaretError} kind `refusal`: INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE,
   *   ENVIRONMENT_NOT_FOUND, ACCESS_DENIED, NOT_ADMITTED, QUEUE_FULL, CLIENT_QUEUE_FULL, RATE_LIMITED, CIRCUIT_OPEN,
   *   DISPOSED; kind `fault`: JAIL_UNAVAILABLE, CELL_FAILED, WORKER_LOST, AUDIT_FAILED.
   * @example
   * ```ts
   * const { outcome, value } = await lazaret.run({ language: 'python', code: 'sum(range(10))' })
   * ```
   */
  run(request: RunRequest): Promise<RunResult>
  /**
   * Starts workers for runs of this kind, and resolves when they are parked. From the second such run on, workers start
   * anyway, in the background; this makes the first runs find them, too.
   *
   * @throws {LazaretError} INVALID_REQUEST; RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED or WORKER_LOST if none
   * could be started.
   */
  warmUp(request: WarmUpRequest): Promise<void>
  /**
   * Creates a sandbox: a workspace that persists, in which commands run.
   *
   * @throws {LazaretError} INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE,
   *   ENVIRONMENT_NOT_FOUND, ACCESS_DENIED, NOT_ADMITTED, QUEUE_FULL, JAIL_UNAVAILABLE, CELL_FAILED, AUDIT_FAILED,
   *   DISPOSED.
   * @example
   * ```ts
   * await using sandbox = await lazaret.sandbox({ files: { 'hello.py': 'print("hi")' } })
   * const { stdout } = await sandbox.exec('python3 hello.py')
   * ```
   */
  sandbox(options?: SandboxOptions): Promise<Sandbox>
  /** Named sets of packages, for runs and sandboxes that name them. */
  readonly environments: EnvironmentsApi
  /** Which `defaults` are above the `ceilings`, and which values apply instead. A sandbox has its own list. */
  readonly clamped: readonly Clamp[]
  /** Sandboxes that were created and not destroyed, or could not be ended, oldest first. */
  listSandboxes(): readonly Sandbox[]
  /**
   * Ends the idle workers, which frees their memory. Resolves when nothing of them is left. Runs continue, and new runs
   * start workers again.
   */
  releaseWorkers(): Promise<void>
  /**
   * Shuts down in an orderly way: refuses new work with DISPOSED, lets runs and commands finish for up to `graceMs`,
   * cancels the rest, and ends sandboxes and workers. Resolves when nothing is left. `await using` does the same
   * without the grace period.
   *
   * @throws {LazaretError} INVALID_REQUEST for a wrong option; END_FAILED if something could not be ended. Another call
   * tries again.
   */
  close(options?: CloseOptions): Promise<void>
  /** What is running and what is queued, now. */
  stats(): LazaretStats
  /**
   * Builds a cell to find out what this machine offers and which level it reaches. Takes tens of milliseconds. The first
   * call also asks each interpreter for its version, which takes tenths of a second.
   */
  probe(): Promise<ProbeReport>
  /**
   * Cancels what still runs and waits until nothing is left. Throws END_FAILED otherwise; the next call tries again.
   */
  [Symbol.asyncDispose](): Promise<void>
}

export interface CloseOptions {
  /** How long runs and commands may continue, in milliseconds. 0 cancels them at once. Default 10 s. */
  readonly graceMs?: number
}

export interface LazaretStats {
  /** Runs between their request and their result. */
  readonly running: number
  /** Runs that are queued for room or for a worker, and sandboxes that are queued for room. */
  readonly waiting: number
  /** One entry for each kind of worker that is kept, see `LazaretOptions.pools`. */
  readonly pools: readonly PoolStats[]
  /** The bytes that clients make this process hold, see `QueueOptions.heldBytesMax`. */
  readonly held: HeldStats
}
