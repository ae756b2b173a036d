/**
 * Refuses at once what fails more often than not: open above a share of failures among the last results, half-open after a
 * while, for one try, and closed again when that succeeds. One breaker is about one thing; `Breakers` has one for each name.
 *
 * Not cockatiel's: its breakers keep time by themselves, where ours have the clock of their Lazaret, and its half-open one
 * cannot take a try back that another layer has refused.
 */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'

export interface BreakerOptions {
  /** Open above this share of failures. Default 0.5. */
  readonly failureShareMax?: number
  /** How many results count: the last ones. Default 100. */
  readonly resultsMax?: number
  /** It stays closed below so many results. Default 10. */
  readonly resultsMin?: number
  /** From open to half-open. Milliseconds; default 30 s. */
  readonly coolDownMs?: number
}

export interface CircuitBreakerParts extends BreakerOptions {
  readonly clock: Clock
}

export const breakerText = 'Code execution temporarily disabled due to high error rate'

/** What becomes of a try. The first call counts. */
export interface Try {
  readonly recordResult: (isSuccess: boolean) => void
  /** It was refused by somebody else, or says nothing about this. */
  readonly takeBack: () => void
}

export class CircuitBreaker {
  readonly #clock: Clock
  readonly #options: Required<BreakerOptions>
  #results: boolean[] = []
  #openedAt: number | undefined
  #isTrying = false

  constructor({ clock, ...options }: CircuitBreakerParts) {
    this.#clock = clock
    const { failureShareMax = 0.5, resultsMax = 100, resultsMin = 10, coolDownMs = 30_000 } = options
    this.#options = { failureShareMax, resultsMax, resultsMin, coolDownMs }
  }

  /** Whether everything is refused now. */
  isOpen(): boolean {
    if (this.#openedAt === undefined) return false
    return this.#isTrying || this.#retryAfterMs(this.#openedAt) > 0
  }

  get state(): 'closed' | 'open' | 'half-open' {
    if (this.#openedAt === undefined) return 'closed'
    return this.#retryAfterMs(this.#openedAt) > 0 ? 'open' : 'half-open'
  }

  /** Throws CIRCUIT_OPEN. */
  try(): Try {
    const openedAt = this.#openedAt
    if (openedAt !== undefined) {
      if (this.isOpen())
        throw new LazaretError('CIRCUIT_OPEN', {
          message: breakerText,
          retryAfterMs: Math.max(1, this.#retryAfterMs(openedAt)),
        })
      this.#isTrying = true
    }
    let isOver = false
    const once = (act: () => void) => () => {
      if (isOver) return
      isOver = true
      if (openedAt !== undefined) this.#isTrying = false
      act()
    }
    return {
      recordResult: (isSuccess) => once(() => this.#record(isSuccess, openedAt !== undefined))(),
      takeBack: once(() => undefined),
    }
  }

  /** A result without a try: who only asks `isOpen()` says afterwards how it went. */
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

  #retryAfterMs(openedAt: number): number {
    return Math.ceil(openedAt + this.#options.coolDownMs - this.#clock.now())
  }
}

/** Names that are remembered; whose turn was longest ago goes first. */
const namesMax = 10_000

/** A breaker for each name, such as a client's: the failures of one never refuse another. */
export class Breakers {
  readonly #parts: CircuitBreakerParts
  readonly #all = new Map<string, CircuitBreaker>()

  constructor(parts: CircuitBreakerParts) {
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
