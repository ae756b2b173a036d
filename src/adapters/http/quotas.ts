/** The work that one token may have running, in addition to the engine's policy for its name. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import { RateLimiter } from '../../policy/rate-limiter.ts'
import type { ApiToken } from './api-tokens.ts'

export class Quotas {
  readonly #running = new Map<string, number>()
  /** One limiter for each rate; within it, the keys are names of tokens. */
  readonly #limiters = new Map<number, RateLimiter>()
  readonly #clock: Clock
  readonly #runningMax: number

  constructor(clock: Clock, runningMax: number) {
    this.#clock = clock
    this.#runningMax = runningMax
  }

  /** Counts as one running piece of work until it is disposed. Throws RATE_LIMITED or CLIENT_QUEUE_FULL. */
  begin({ name, perMinute, running = this.#runningMax }: ApiToken): Disposable {
    const count = this.#running.get(name) ?? 0
    if (count >= running)
      throw new LazaretError('CLIENT_QUEUE_FULL', {
        message: 'The token has too many pieces of work at one time.',
        detail: `It may have ${running}.`,
        hint: 'Wait until one ends. The operator sets this with `--running`.',
        retryAfterMs: 1000,
      })
    if (perMinute !== undefined) this.#limiterOf(perMinute).take(name)
    this.#running.set(name, count + 1)
    return { [Symbol.dispose]: () => this.#end(name) }
  }

  #end(name: string): void {
    const left = (this.#running.get(name) ?? 1) - 1
    if (left === 0) this.#running.delete(name)
    else this.#running.set(name, left)
  }

  #limiterOf(perMinute: number): RateLimiter {
    const found = this.#limiters.get(perMinute)
    if (found !== undefined) return found
    const limiter = new RateLimiter({ perMinute, clock: this.#clock })
    this.#limiters.set(perMinute, limiter)
    return limiter
  }
}
