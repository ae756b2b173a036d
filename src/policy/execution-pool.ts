/** Bounds executions at one time and in the queue, fairly between clients. */
import { z } from 'zod'

import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { checkOptions, clockSchema, queueFields } from './policy-options.ts'
import type { RoomSize } from './room-size.ts'
import { Room } from './room.ts'

export interface ExecutionPoolOptions {
  /** Default 10. */
  readonly runningMax?: number
  /** Default 50. */
  readonly waitingMax?: number
  /** Milliseconds; default 60 s. */
  readonly waitMs?: number
  /** Default: the system's. */
  readonly clock?: Clock
}

export interface Submission {
  readonly client?: string
  /** Its abort ends the wait: `submit` then throws the signal's reason. */
  readonly signal?: AbortSignal
}

export const queueDefaults = { runningMax: 10, waitingMax: 50, waitMs: 60_000 }

export const queueText = 'Execution queue full. Please retry in a few seconds.'
const optionsSchema = z.strictObject({ ...queueFields, clock: clockSchema.optional() })
const never = new AbortController().signal

export class ExecutionPool {
  readonly #room: Room

  constructor(options: ExecutionPoolOptions = {}) {
    const { clock = systemClock } = checkOptions(optionsSchema, options)
    this.#room = new Room({ ...sizeOf(options), clock, refusalText: queueText, isShared: true })
  }

  get running(): number {
    return this.#room.running
  }

  get waiting(): number {
    return this.#room.waiting
  }

  /** Throws QUEUE_FULL and CLIENT_QUEUE_FULL, each with the same text, and what `act` throws. */
  async submit<T>(act: (queuedMs: number) => Promise<T>, asked: Submission = {}): Promise<T> {
    const { client = '', signal = never } = asked
    const place = await this.#room.enter({ client, memoryBytes: 0, signal })
    try {
      return await act(place.queuedMs)
    } finally {
      place.leave()
    }
  }
}

/** The size of a queue with nothing to bound but executions: memory is bounded by the Lazaret below it. */
export function sizeOf(asked: Pick<ExecutionPoolOptions, 'runningMax' | 'waitingMax' | 'waitMs'>): RoomSize {
  const {
    runningMax = queueDefaults.runningMax,
    waitingMax = queueDefaults.waitingMax,
    waitMs = queueDefaults.waitMs,
  } = asked
  return { runningMax, waitingMax, waitMs, memoryTotalBytes: Number.MAX_SAFE_INTEGER }
}
