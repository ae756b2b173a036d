/** Workers without a cell, and a clock for tests: if a result depends on time, neither may take any. */
import type { Clock } from '../../src/core/clock.ts'
import type { ReadyWorker } from '../../src/runtimes/work/worker.ts'

export class FakeClock implements Clock {
  #now = 0
  readonly #timers = new Set<{ at: number; readonly everyMs: number | null; readonly callback: () => void }>()

  now(): number {
    return this.#now
  }

  timestamp(): string {
    return new Date(this.#now).toISOString()
  }

  after(ms: number, callback: () => void): () => void {
    return this.#add({ at: this.#now + ms, everyMs: null, callback })
  }

  every(ms: number, callback: () => void): () => void {
    return this.#add({ at: this.#now + ms, everyMs: ms, callback })
  }

  id(): string {
    return 'id'
  }

  /** The time until the next timer fires; undefined if there is none. */
  get nextMs(): number | undefined {
    const next = [...this.#timers].map(({ at }) => at - this.#now)
    return next.length === 0 ? undefined : Math.min(...next)
  }

  advance(ms: number): void {
    const until = this.#now + ms
    for (;;) {
      const [due] = [...this.#timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
      if (due === undefined) break
      this.#now = due.at
      if (due.everyMs === null) this.#timers.delete(due)
      else due.at += due.everyMs
      due.callback()
    }
    this.#now = until
  }

  #add(timer: { at: number; readonly everyMs: number | null; readonly callback: () => void }): () => void {
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }
}

export class FakeWorker {
  readonly #lost = Promise.withResolvers<void>()
  readonly lost = this.#lost.promise
  isEnded = false

  /** As if its cell had ended by itself. */
  lose(): void {
    this.#lost.resolve()
  }

  get asWorker(): ReadyWorker {
    return this as unknown as ReadyWorker
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isEnded = true
    // A real worker also resolves `lost` when it is ended.
    this.#lost.resolve()
  }
}
