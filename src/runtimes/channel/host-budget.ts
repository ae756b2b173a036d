/**
 * The time that one run may cost the host's event loop: reading its messages, decoding its values, answering its calls.
 * It is measured, not estimated, and spent in turns of the loop; a run that uses it up is ended (`limits.hostMs`).
 */
import type { Clock } from '../../core/clock.ts'
import type { Steps } from '../../core/steps.ts'
import { loopTurns } from './loop-turns.ts'

export class HostBudget {
  /** Called once, when it is used up. */
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

  /** Abandons work that has begun. */
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
   * Takes the steps: as many as this turn of the loop has time for now, the others in later turns. Calls `onDone` after
   * the last one, outside of any run's budget; never when the budget is used up before. Steps do not throw.
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
