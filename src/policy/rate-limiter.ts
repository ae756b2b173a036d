/**
 * So many executions a minute for each client, in a window that slides: what was admitted counts for 60 s, what was refused
 * never. Alone, or as a part of a policy.
 */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'

export interface RateOptions {
  readonly perMinute: number
}

/** Default 30 a minute. */
export interface RateLimiterOptions extends Partial<RateOptions> {
  readonly clock: Clock
}

export interface RateAnswer {
  readonly isAllowed: boolean
  /** 0 when it is allowed. */
  readonly retryAfterMs: number
}

const windowMs = 60_000

export class RateLimiter {
  readonly #perMinute: number
  readonly #clock: Clock
  /** When each client's executions of the last minute began. Who asked last is last. */
  readonly #clients = new Map<string, number[]>()

  constructor({ perMinute = 30, clock }: RateLimiterOptions) {
    this.#perMinute = perMinute
    this.#clock = clock
  }

  /** Clients that are remembered: those of the last minute. */
  get clients(): number {
    this.#forgetIdle()
    return this.#clients.size
  }

  /** Counts the execution when it is allowed. */
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

  /** The same. What it returns takes the execution back: it was refused by somebody else. Throws RATE_LIMITED. */
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

  /** Nobody's clock runs for this: whoever asks next pays for it, a step for each client that is forgotten. */
  #forgetIdle(): void {
    const now = this.#clock.now()
    for (const [client, recent] of this.#clients) {
      if (now - (recent.at(-1) ?? 0) < windowMs) return
      this.#clients.delete(client)
    }
  }
}
