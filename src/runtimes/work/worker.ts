/** A worker runs one job. It is parked, or started for the run; the pool lends it to the job. */
import type { StartKind } from '../../core/receipt.ts'
import type { RunEnd } from './follow-run.ts'
import type { Job } from './guest-start.ts'

export interface Worker {
  /** How it came to be there. */
  readonly start: StartKind
  /**
   * The job it is for, once. Null when the worker turned out to be lost: then nothing of the job has run. Throws what
   * refuses the job, before anything runs: INPUT_TOO_LARGE; else CELL_FAILED, WORKER_LOST, JAIL_UNAVAILABLE.
   */
  run(job: Job): Promise<RunEnd | null>
  /** Ends it, if it was not used. */
  [Symbol.asyncDispose](): Promise<void>
}

/** A worker that waits for its job. */
export interface ReadyWorker extends Worker {
  /** Resolves when it can no longer serve. */
  readonly lost: Promise<unknown>
}

/** A worker that serves one job after another. */
export interface LastingWorker<LastingJob, End> {
  /** Resolves when it waits for a job: before the first, and after each one. Throws when it never will. */
  ready(): Promise<void>
  /** Throws when the worker was lost. */
  run(job: LastingJob): Promise<End>
  /**
   * Whether it may serve this client next: at once, because it served the client before; only if no better worker is
   * free; or never.
   */
  fits(client: string): 'best' | 'well' | 'never'
  /** How it broke while it ran its last job, which ends nevertheless. */
  readonly crash?: Error | undefined
  /** Resolves when it is lost while it waits. */
  readonly lost?: Promise<unknown>
  /** Resolves when nothing of it is left. */
  end(): Promise<void>
}
