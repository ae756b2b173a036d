/**
 * Refuses work that keeps failing. It opens above a share of failures among the last results, is half-open after a
 * while, for one trial, and closes again if that succeeds. Each breaker watches one thing; `Breakers` has one for each
 * name.
 *
 * Not cockatiel's: its breakers use their own clock and not the Lazaret's clock, and a half-open one cannot undo a
 * trial that another check has refused.
 */
import { z } from 'zod'

import { systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { breakerFields, checkOptions, clockSchema } from './policy-options.ts'

export interface BreakerOptions {
  /** It opens above this share of failures. Default 0.5. */
  readonly failureShareMax?: number
  /** How many of the latest results count. Default 100. */
  readonly resultsMax?: number
  /** It stays closed with fewer results than this. Default 10. */
  readonly resultsMin?: number
  /** From open to half-open. Milliseconds; default 30 s. */
  readonly coolDownMs?: number
}

export interface CircuitBreakerOptions extends BreakerOptions {
  /** Default: the system's. */
  readonly clock?: Clock
}

export const breakerDefaults: Required<BreakerOptions> = {
  failureShareMax: 0.5,
  resultsMax: 100,
  resultsMin: 10,
  coolDownMs: 30_000,
}

const optionsSchema = z.strictObject({ ...breakerFields, clock: clockSchema.optional() })

export const breakerText = 'Code execution temporarily disabled due to high error rate'

/** The end of a trial. Only the first call counts. */
export interface Try {
  readonly recordResult: (isSuccess: boolean) => void
  /** Another check refused it, or its result is irrelevant here. */
  readonly takeBack: () => void
}

export class CircuitBreaker {
  readonly #clock: Clock
  readonly #options: Required<BreakerOptions>
  #results: boolean[] = []
  #openedAt: number | undefined
  /** When the one trial of a half-open breaker began. */
  #tryingSince: number | undefined

  constructor(options: CircuitBreakerOptions = {}) {
    this.#clock = checkOptions(optionsSchema, options).clock ?? systemClock
    const {
      failureShareMax = breakerDefaults.failureShareMax,
      resultsMax = breakerDefaults.resultsMax,
      resultsMin = breakerDefaults.resultsMin,
      coolDownMs = breakerDefaults.coolDownMs,
    } = options
    this.#options = { failureShareMax, resultsMax, resultsMin, coolDownMs }
  }

  /** Whether everything is refused now. */
  isOpen(): boolean {
    if (this.#openedAt === undefined) return false
    return this.#isTrying || this.#msUntil(this.#openedAt) > 0
  }

  /** If a trial takes long, such as a process that never ends, the next one may start after another cool-down. */
  get #isTrying(): boolean {
    return this.#tryingSince !== undefined && this.#msUntil(this.#tryingSince) > 0
  }

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#openedAt === undefined) return 'closed'
    return this.#msUntil(this.#openedAt) > 0 ? 'open' : 'half-open'
  }

  /** Throws CIRCUIT_OPEN. */
  try(): Try {
    const openedAt = this.#openedAt
    if (openedAt !== undefined) {
      if (this.isOpen())
        throw new LazaretError('CIRCUIT_OPEN', {
          message: breakerText,
          retryAfterMs: Math.max(
            1,
            this.#msUntil(this.#isTrying ? (this.#tryingSince ?? openedAt) : openedAt),
          ),
        })
      this.#tryingSince = this.#clock.now()
    }
    const since = this.#tryingSince
    const isCurrent = () =>
      openedAt !== undefined && this.#openedAt === openedAt && this.#tryingSince === since
    let isOver = false
    const once = (act: (isDeciding: boolean) => void) => () => {
      if (isOver) return
      isOver = true
      const isDeciding = isCurrent()
      if (isDeciding) this.#tryingSince = undefined
      act(isDeciding)
    }
    return {
      recordResult: (isSuccess) => once((isDeciding) => this.#record(isSuccess, isDeciding))(),
      takeBack: once(() => undefined),
    }
  }

  /** A result without a trial: callers that only ask `isOpen()` report the result afterwards. */
  recordResult(isSuccess: boolean): void {
    this.#record(isSuccess, this.state === 'half-open' && !this.#isTrying)
  }

  #record(isSuccess: boolean, isDeciding: boolean): void {
    if (isDeciding) {
      this.#results = isSuccess ? [true] : []
      this.#openedAt = isSuccess ? undefined : this.#clock.now()
      return
    }
    this.#results.push(isSuccess)
    if (this.#results.length > this.#options.resultsMax) this.#results.shift()
    if (this.#openedAt === undefined && this.#isTooBad()) this.#openedAt = this.#clock.now()
  }

  #isTooBad(): boolean {
    const { resultsMin, failureShareMax } = this.#options
    const { length } = this.#results
    const failures = this.#results.filter((isSuccess) => !isSuccess).length
    return length >= resultsMin && failures > failureShareMax * length
  }

  #msUntil(since: number): number {
    return Math.ceil(since + this.#options.coolDownMs - this.#clock.now())
  }
}

/** The number of remembered names; the least recently used one is forgotten first. */
const namesMax = 10_000

/** A breaker for each name, such as a client's: the failures of one client never refuse another. */
export class Breakers {
  readonly #parts: CircuitBreakerOptions
  readonly #all = new Map<string, CircuitBreaker>()

  constructor(parts: CircuitBreakerOptions) {
    this.#parts = parts
  }

  of(name: string): CircuitBreaker {
    const breaker = this.#all.get(name) ?? new CircuitBreaker(this.#parts)
    this.#all.delete(name)
    this.#all.set(name, breaker)
    const [oldest] = this.#all.keys()
    if (this.#all.size > namesMax && oldest !== undefined) this.#all.delete(oldest)
    return breaker
  }
}
