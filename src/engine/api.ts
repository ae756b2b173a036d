/** What a caller has of Lazaret: the interface that `createLazaret()` returns. */
import type { RunRequest } from '../core/request.ts'
import type { RunResult } from '../core/result.ts'
import type { ProbeReport } from '../jail/probe-report.ts'
import type { PoolStats } from '../pool/pool.ts'
import type { Sandbox } from '../sandbox/sandbox.ts'
import type { SandboxOptions } from '../sandbox/types.ts'
import type { WarmUpRequest } from './warm-up.ts'

/** Runs untrusted code, each run behind its own kernel wall. */
export interface Lazaret extends AsyncDisposable {
  /**
   * Executes one piece of code once, in a cell of its own: one that waited for it, or a fresh one.
   *
   * Whatever the guest does is a value: `result.outcome`. Thrown is only what is not the guest's doing:
   * @throws {LazaretError} kind `refusal`: INVALID_REQUEST, INPUT_TOO_LARGE, RUNTIME_UNAVAILABLE, ACCESS_DENIED,
   *   NOT_ADMITTED, QUEUE_FULL, CLIENT_QUEUE_FULL, RATE_LIMITED, CIRCUIT_OPEN, DISPOSED;
   *   kind `fault`: JAIL_UNAVAILABLE, CELL_FAILED, WORKER_LOST.
   * @example
   * ```ts
   * const { outcome, value } = await lazaret.run({ language: 'python', code: 'sum(range(10))' })
   * ```
   */
  run(request: RunRequest): Promise<RunResult>
  /**
   * Resolves when workers wait for runs of this kind. They come by themselves from the second such run on; this is for
   * the first ones to find them too.
   *
   * @throws {LazaretError} INVALID_REQUEST; RUNTIME_UNAVAILABLE, JAIL_UNAVAILABLE, CELL_FAILED or WORKER_LOST when none
   *   could be started.
   */
  warmUp(request: WarmUpRequest): Promise<void>
  /**
   * Creates a sandbox: a workspace that stays, in which commands run.
   *
   * @throws {LazaretError} INVALID_REQUEST, INPUT_TOO_LARGE, LIMIT_UNENFORCEABLE, RUNTIME_UNAVAILABLE, QUEUE_FULL,
   *   JAIL_UNAVAILABLE, CELL_FAILED, DISPOSED.
   * @example
   * ```ts
   * await using sandbox = await lazaret.sandbox({ files: { 'hello.py': 'print("hi")' } })
   * const { stdout } = await sandbox.exec('python3 hello.py')
   * ```
   */
  sandbox(options?: SandboxOptions): Promise<Sandbox>
  /** Those that have been created and not destroyed, or whose end has failed, oldest first. */
  listSandboxes(): readonly Sandbox[]
  /** Ends the workers that wait for runs. Resolves when nothing of them is left; runs go on, and new ones are served. */
  drain(): Promise<void>
  /** What runs and what waits, now. */
  stats(): LazaretStats
  /** What this machine offers and which level it reaches, found out by building a cell. Takes some 10 ms. */
  probe(): Promise<ProbeReport>
  /** Kills what still runs and waits until nothing of it is left. Throws END_FAILED otherwise; the next call tries again. */
  [Symbol.asyncDispose](): Promise<void>
}

export interface LazaretStats {
  /** Runs between their request and their result. */
  readonly running: number
  /** Those of them that wait for room or for a worker, and the sandboxes that wait for room. */
  readonly waiting: number
  /** One entry for each kind of worker that is kept, see `LazaretOptions.pools`. */
  readonly pools: readonly PoolStats[]
}
