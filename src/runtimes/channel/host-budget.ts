/**
 * The time that one run may take on the host's event loop: reading its messages, decoding its values, answering its calls.
 * The time is measured, and the work is spread over turns of the loop. A run that exceeds its budget is ended
 * (`limits.hostMs`).
 */
import type { Clock } from '../../core/clock.ts'
import type { Steps } from '../../core/steps.ts'
import { loopTurns } from './loop-turns.ts'

export class HostBudget {
  /** Called once, when the budget is exhausted. */
  onSpent: () => void = () => undefined
  readonly #clock: Pick<Clock, 'now'>
  #leftMs: number
  #isOver = false

  constructor(clock: Pick<Clock, 'now'>, hostMs: number) {
    this.#clock = clock
    this.#leftMs = hostMs
  }

  /** Whether the host does no more work for the run. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** How much of it is left; negative if the last piece of work exceeded it. */
  get leftMs(): number {
    return this.#leftMs
  }

  /** Abandons unfinished work. */
  end(): void {
    this.#isOver = true
  }

  /** Does work that cannot be split. */
  measure<T>(work: () => T): T {
    const started = this.#clock.now()
    try {
      return work()
    } finally {
      this.#charge(this.#clock.now() - started)
    }
  }

  /**
   * Performs as many steps as this turn of the loop has time for, and the rest in later turns. Calls `onDone` after the last
   * step, without charging it to a budget; never calls it if the budget is exhausted or ended before. Steps must not throw.
   */
  perform<T>(steps: Steps<T>, onDone: (result: T) => void): void {
    let started = this.#clock.now()
    while (!this.#isOver) {
      const { done, value } = steps.next()
      const now = this.#clock.now()
      this.#charge(now - started)
      started = now
      if (done === true) {
        onDone(value)
        return
      }
      if (loopTurns.isOver) {
        loopTurns.wait(() => this.perform(steps, onDone))
        return
      }
    }
  }

  #charge(ms: number): void {
    loopTurns.spend(ms)
    this.#leftMs -= ms
    if (this.#leftMs >= 0 || this.#isOver) return
    this.#isOver = true
    this.onSpent()
  }
}
