/** Bounds how long work may take in total, and how long it may block the event loop. */
import type { Clock } from '../../core/clock.ts'
import type { MissingReason } from '../../core/missing-files.ts'
import { loopTurns } from '../channel/loop-turns.ts'

/** How often work checks whether the turn of the event loop, which all runs share, is over. */
const sliceMs = 1

/** Is over when the time is up or the caller aborts. */
export class Deadline {
  readonly #clock: Clock
  readonly #end: number
  readonly #over = Promise.withResolvers<void>()
  readonly #signal: AbortSignal | undefined
  readonly #cancelTimer: () => void
  #sliceEnd: number

  constructor(ms: number, clock: Clock, signal: AbortSignal | undefined) {
    this.#clock = clock
    this.#signal = signal
    this.#end = clock.now() + ms
    this.#sliceEnd = clock.now() + sliceMs
    this.#cancelTimer = clock.after(ms, this.#over.resolve)
    signal?.addEventListener('abort', this.#abort, { once: true })
    if (signal?.aborted === true) this.#abort()
  }

  get leftMs(): number {
    return Math.max(1, Math.ceil(this.#end - this.#clock.now()))
  }

  /** Why files are missing once it is over. */
  get missingReason(): MissingReason {
    return this.#signal?.aborted === true ? 'ended' : 'time'
  }

  /** The result of the work, or undefined if it took too long. */
  race<T>(work: Promise<T>): Promise<T | undefined> {
    return Promise.race([work, this.#over.promise.then(() => undefined)])
  }

  /** Whether `isOver` has to be asked. Asking for each of a hundred thousand items would take megabytes for promises. */
  get isDue(): boolean {
    return this.#clock.now() >= Math.min(this.#sliceEnd, this.#end) || this.#signal?.aborted === true
  }

  /** Ask it often: it also lets the event loop turn after each slice of time. */
  async isOver(): Promise<boolean> {
    const now = this.#clock.now()
    if (now >= this.#sliceEnd) {
      loopTurns.spend(now - this.#sliceEnd + sliceMs)
      if (loopTurns.isOver) await new Promise<void>((resolve) => loopTurns.wait(resolve))
      this.#sliceEnd = this.#clock.now() + sliceMs
    }
    return now >= this.#end || this.#signal?.aborted === true
  }

  cancel(): void {
    this.#cancelTimer()
    this.#signal?.removeEventListener('abort', this.#abort)
  }

  readonly #abort = (): void => this.#over.resolve()
}
