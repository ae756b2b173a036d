/** The parts of a pool of lasting workers, and its jobs. */
import type { Clock } from '../core/clock.ts'
import type { LastingWorker } from '../runtimes/work/worker.ts'
import type { CrashLimit, SlotEvent } from './slots.ts'

export interface LastingPoolParts<Job, End> {
  readonly clock: Clock
  /** What messages to the caller call a job. */
  readonly noun: string
  /** Throws when none can be started. */
  readonly start: () => LastingWorker<Job, End>
  /** The number of workers at one time, busy or not. */
  readonly workersMax: number
  /** How many jobs may wait for a worker. */
  readonly waitingMax: number
  /** This number of workers is kept once they have been needed. Default 1. */
  readonly workersMin?: number
  /** When crashes disable a slot. Default: never. */
  readonly crashes?: CrashLimit
  readonly onEvent?: (event: SlotEvent) => void
  /** Whether a job waits for a second worker if the first is lost while it starts. Default: the job is refused. */
  readonly hasSecondStart?: boolean
}

/** What the pool needs to know about a job. */
export interface Turn {
  readonly signal?: AbortSignal | undefined
  /** The client, because clients are served in turn. */
  readonly client?: string | undefined
  /** Called when the job has a worker. */
  readonly onBegun?: () => void
}

export interface Served<End> {
  /** Null when the signal was aborted before a worker was found: nothing has run. */
  readonly end: End | null
  readonly queuedMs: number
  readonly start: 'cold' | 'parked'
}
