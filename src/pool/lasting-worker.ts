/** What a pool of lasting workers is made of, and what it serves. */
import type { Clock } from '../core/clock.ts'
import type { CrashLimit, SlotEvent } from './slots.ts'

export interface LastingWorker<Job, End> {
  /** Resolves when it waits for a job: before the first, and after each one. Throws when it never will. */
  ready(): Promise<void>
  /** Throws when the worker was lost. */
  run(job: Job): Promise<End>
  /** Whether it may serve this client next: it has before, nobody was served yet, or never. */
  fits(client: string): 'best' | 'well' | 'never'
  /** Resolves when it is lost while it waits. */
  readonly lost?: Promise<unknown>
  /** Resolves when nothing of it is left. */
  end(): Promise<void>
}

export interface LastingPoolParts<Job, End> {
  readonly clock: Clock
  /** What one job is called, in what a caller is told. */
  readonly noun: string
  /** Throws when none can be started. */
  readonly start: () => LastingWorker<Job, End>
  /** At one time, busy or not. */
  readonly workersMax: number
  /** Jobs that wait for a worker. */
  readonly waitingMax: number
  /** So many are kept for ever once they were needed. Default 1. */
  readonly workersMin?: number
  /** Default: a slot is never disabled. */
  readonly crashes?: CrashLimit
  readonly onEvent?: (event: SlotEvent) => void
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
