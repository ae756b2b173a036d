/**
 * Bounds the time that each turn of the event loop spends on messages of guests, for all guests together. The rest of the
 * work waits for later turns. So the host stays responsive, however many guests there are and whatever they send.
 */
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import type { Steps } from '../../core/steps.ts'

const turnMs = 8
/** When a timer with this delay fires, the loop has turned. */
const pauseMs = 1

export class LoopTurns {
  readonly #clock: Clock
  #leftMs = turnMs
  readonly #waiting: (() => void)[] = []
  #isRenewing = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isOver(): boolean {
    return this.#leftMs <= 0
  }

  spend(ms: number): void {
    this.#leftMs -= ms
    // A timer for each message would cost more than most messages.
    if (this.#leftMs < turnMs / 2) this.#renewLater()
  }

  /** Calls back in a turn that has time left, in the order of the calls. */
  wait(callback: () => void): void {
    this.#waiting.push(callback)
    this.#renewLater()
  }

  /** Performs the steps in as many turns as they need, for work that is not charged to a run. */
  async perform<T>(steps: Iterator<unknown, T>): Promise<T> {
    for (;;) {
      const startedMs = this.#clock.now()
      const { done, value } = steps.next()
      this.spend(this.#clock.now() - startedMs)
      if (done === true) return value
      if (this.isOver) await new Promise<void>((resolve) => this.wait(resolve))
    }
  }

  /**
   * Resolves in a turn that has time left, for work that cannot be measured because it continues in promises: the turn is
   * charged with a guess.
   */
  async turnFor(ms: number): Promise<void> {
    if (this.isOver || this.#waiting.length > 0)
      await new Promise<void>((resolve) =>
        this.wait(() => {
          this.spend(ms)
          resolve()
        }),
      )
    else this.spend(ms)
  }

  /** What the steps yield, as it is asked for, in as many turns as they need. */
  async *stream<T>(steps: Iterator<T | undefined, void>): AsyncGenerator<T, void> {
    for (;;) {
      const { done, value } = await this.perform(untilNext(steps))
      if (done === true) return
      yield value
      if (this.isOver) await new Promise<void>((resolve) => this.wait(resolve))
    }
  }

  #renewLater(): void {
    if (this.#isRenewing) return
    this.#isRenewing = true
    this.#clock.after(pauseMs, () => this.#renew())
  }

  #renew(): void {
    this.#isRenewing = false
    this.#leftMs = turnMs
    while (!this.isOver) {
      const next = this.#waiting.shift()
      if (next === undefined) return
      next()
    }
    if (this.#waiting.length > 0) this.#renewLater()
  }
}

function* untilNext<T>(steps: Iterator<T | undefined, void>): Steps<IteratorResult<T, void>> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return { done, value }
    if (value !== undefined) return { done: false, value }
    yield
  }
}

/**
 * For work in a chain of promises, such as reading the entries of an archive. As long as each promise is already resolved,
 * the loop does not turn. The returned function lets it turn when it is time; await it at each step.
 */
export function takeRests(clock: Clock = systemClock): () => Promise<void> {
  let restedMs = clock.now()
  return async () => {
    if (clock.now() - restedMs < turnMs) return
    await new Promise<void>((resolve) => clock.after(pauseMs, resolve))
    restedMs = clock.now()
  }
}

/** A process has one event loop, so all its work shares this instance. */
export const loopTurns = new LoopTurns(systemClock)
