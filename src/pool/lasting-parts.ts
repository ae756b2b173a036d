/** What a pool of lasting workers is made of, and what it serves. */
import type { Clock } from '../core/clock.ts'
import type { LastingWorker } from '../runtimes/work/worker.ts'
import type { CrashLimit, SlotEvent } from './slots.ts'

export interface LastingPoolParts<Job, End> {
  readonly clock: Clock
  /** The name of one job in messages for the caller. */
  readonly noun: string
  /** Throws when none can be started. */
  readonly start: () => LastingWorker<Job, End>
  /** At one time, busy or not. */
  readonly workersMax: number
  /** Jobs that wait for a worker. */
  readonly waitingMax: number
  /** Once needed, this number is kept for ever. Default 1. */
  readonly workersMin?: number
  /** Default: a slot is never disabled. */
  readonly crashes?: CrashLimit
  readonly onEvent?: (event: SlotEvent) => void
  /**
   * Whether a job continues to wait, once, when the worker that starts for it is lost. Default: the job is refused.
   */
  readonly hasSecondStart?: boolean
}

/** What a job needs of the pool. */
export interface Turn {
  readonly signal?: AbortSignal | undefined
  /** Clients have their turns one after another. */
  readonly client?: string | undefined
  /** Called when it has found its worker. */
  readonly onBegun?: () => void
}

export interface Served<End> {
  /** Null when the signal was aborted before a worker was found: nothing has run. */
  readonly end: End | null
  readonly queuedMs: number
  readonly start: 'cold' | 'parked'
}
