/**
 * Limits each client's executions per minute, in a sliding window: admitted ones count for 60 s, refused ones never. It
 * works alone, or as a part of a policy.
 */
import { z } from 'zod'

import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { checkOptions, clockSchema, rateFields } from './policy-options.ts'

export interface RateOptions {
  readonly perMinute: number
}

/** Default 30 a minute. */
export interface RateLimiterOptions extends Partial<RateOptions> {
  /** Default: the system's. */
  readonly clock?: Clock
}

export interface RateAnswer {
  readonly isAllowed: boolean
  /** 0 if it is allowed. */
  readonly retryAfterMs: number
}

const windowMs = 60_000
export const rateDefaults = { perMinute: 30 }

const optionsSchema = z.strictObject({ ...rateFields, clock: clockSchema }).partial()

export class RateLimiter {
  readonly #perMinute: number
  readonly #clock: Clock
  /** When each client's executions of the last minute began. The client that asked last is last. */
  readonly #clients = new Map<string, number[]>()

  constructor(options: RateLimiterOptions = {}) {
    const { perMinute = rateDefaults.perMinute, clock = systemClock } = checkOptions(optionsSchema, options)
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** The number of remembered clients: those of the last minute. */
  get clients(): number {
    this.#forgetIdle()
    return this.#clients.size
  }

  /** Counts the execution if it is allowed. */
  checkLimit(client: string): RateAnswer {
    this.#forgetIdle()
    const now = this.#clock.now()
    const recent = (this.#clients.get(client) ?? []).filter((at) => now - at < windowMs)
    const [oldest = now] = recent
    if (recent.length >= this.#perMinute)
      return { isAllowed: false, retryAfterMs: Math.ceil(oldest + windowMs - now) }
    recent.push(now)
    this.#clients.delete(client)
    this.#clients.set(client, recent)
    return { isAllowed: true, retryAfterMs: 0 }
  }

  /**
   * Like `checkLimit`, but throws RATE_LIMITED. The returned function undoes the count, for an execution that another
   * check refuses.
   */
  take(client: string): () => void {
    const { isAllowed, retryAfterMs } = this.checkLimit(client)
    if (!isAllowed) {
      const message = `Rate limit exceeded. Maximum ${this.#perMinute} executions per minute.`
      throw new LazaretError('RATE_LIMITED', { message, retryAfterMs })
    }
    const at = this.#clients.get(client)?.at(-1)
    return () => {
      const recent = this.#clients.get(client)
      const index = recent?.lastIndexOf(at ?? Number.NaN) ?? -1
      if (index >= 0) recent?.splice(index, 1)
      if (recent?.length === 0) this.#clients.delete(client)
    }
  }

  /** There is no timer for this: the next caller does it, one step for each client that is forgotten. */
  #forgetIdle(): void {
    const now = this.#clock.now()
    for (const [client, recent] of this.#clients) {
      if (now - (recent.at(-1) ?? 0) < windowMs) return
      this.#clients.delete(client)
    }
  }
}
