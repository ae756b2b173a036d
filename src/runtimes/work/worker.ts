/** A worker runs one job. It was parked, or is started for the job; the pool lends it to the job. */
import type { StartKind } from '../../core/receipt.ts'
import type { RunEnd } from './follow-run.ts'
import type { Job } from './guest-start.ts'

export interface Worker {
  /** How the worker was obtained. */
  readonly start: StartKind
  /**
   * Runs the job. May be called once. Returns null if the worker turned out to be lost; then none of the job has run. Throws
   * INPUT_TOO_LARGE before anything has run; or CELL_FAILED, WORKER_LOST, JAIL_UNAVAILABLE.
   */
  run(job: Job): Promise<RunEnd | null>
  /** Ends the worker if it was not used. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A worker that is waiting for its job. */
export interface ReadyWorker extends Worker {
  /** Resolves when it can no longer serve. */
  readonly lost: Promise<unknown>
}

/** A worker that serves one job after another. */
export interface LastingWorker<LastingJob, End> {
  /** Resolves when the worker is ready for a job: before the first, and after each one. Throws if it never will be. */
  ready(): Promise<void>
  /** Throws if the worker was lost. */
  run(job: LastingJob): Promise<End>
  /**
   * Whether it may serve this client next. `best`: it has served the client before and is ready at once. `well`: only if no
   * better worker is free.
   */
  fits(client: string): 'best' | 'well' | 'never'
  /** The error if the worker crashed during its last job, which nevertheless has a result. */
  readonly crash?: Error | undefined
  /** Resolves if it is lost while it waits for a job. */
  readonly lost?: Promise<unknown>
  /** Ends the worker. Resolves when nothing of it is left. */
  end(): Promise<void>
}
