/**
 * The processor time that one run may take on the host's event loop: reading its messages, decoding its values, answering
 * its calls. The work is spread over turns of the loop. A run that exceeds its budget is ended (`limits.hostMs`).
 *
 * Each piece of work is measured by the wall clock, because the processor time of a piece of microseconds cannot be
 * measured in microseconds. While other processes have the processor, the wall clock advances, too. So what a piece took
 * counts by the share of its active time in which the loop really had the processor.
 */
import { loopTime } from '../../core/clock.ts'
import type { Clock, LoopTime } from '../../core/clock.ts'
import type { Steps } from '../../core/steps.ts'
import { loopTurns } from './loop-turns.ts'

/**
 * The share is read after each such part of the budget, so that a time in which the run did little says little about the
 * time in which it does much.
 */
const parts = 16

export class HostBudget {
  /** Called once, when the budget is exhausted. */
  onSpent: () => void = () => undefined
  readonly #clock: Pick<Clock, 'now'>
  readonly #readLoop: () => LoopTime
  readonly #partMs: number
  #leftMs: number
  /** Wall-clock time that does not count yet. */
  #pendingMs = 0
  #before: LoopTime
  #isOver = false

  constructor(clock: Pick<Clock, 'now'>, hostMs: number, readLoop = loopTime) {
    this.#clock = clock
    this.#readLoop = readLoop
    this.#leftMs = hostMs
    this.#partMs = hostMs / parts
    this.#before = readLoop()
  }

  /** Whether the host does no more work for the run. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** How much of it is left, at least; negative if the last piece of work exceeded it. */
  get leftMs(): number {
    return this.#leftMs - this.#pendingMs
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
    this.#pendingMs += ms
    if (this.#pendingMs <= Math.min(this.#partMs, this.#leftMs)) return
    this.#leftMs -= this.#pendingMs * this.#shareOfProcessor()
    this.#pendingMs = 0
    if (this.#leftMs >= 0 || this.#isOver) return
    this.#isOver = true
    this.onSpent()
  }

  /** Since it was last called. */
  #shareOfProcessor(): number {
    const now = this.#readLoop()
    const { activeMs, processorMs } = this.#before
    this.#before = now
    const passedMs = now.activeMs - activeMs
    return passedMs > 0 ? Math.min(1, (now.processorMs - processorMs) / passedMs) : 1
  }
}
