/** The lifetime of a Lazaret, from its creation to the end of everything that it has started. */
import { setMaxListeners } from 'node:events'

import { endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors/errors.ts'

export class Lifetime {
  readonly #closing = new AbortController()
  readonly #disposal = new AbortController()
  readonly #unfinished = new Set<Promise<unknown>>()
  readonly #endOnce: () => Promise<void>

  /** `endAll` ends everything; if it fails, the next `end()` tries again. */
  constructor(endAll: () => Promise<void>) {
    // Every run listens, which older versions of Node report as a leak from the eleventh listener on.
    setMaxListeners(0, this.#disposal.signal, this.#closing.signal)
    this.#endOnce = endOnce(endAll)
  }

  /** Aborted when no more work may begin. Work that has begun continues until the end. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** From now on no work begins. */
  close(): void {
    this.#closing.abort()
  }

  /** Work for which the end waits. Throws DISPOSED. */
  during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(new LazaretError('DISPOSED'))
    return this.track(work())
  }

  /** Aborted at the end of the Lazaret, and by the signals that may end this piece of work. */
  signalWith(signal: AbortSignal | undefined): AbortSignal {
    const disposal = this.#disposal.signal
    return signal === undefined ? disposal : AbortSignal.any([disposal, signal])
  }

  /** The end waits for it, whether it succeeds or fails. */
  track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    )
    this.#unfinished.add(settled)
    void settled.then(() => this.#unfinished.delete(settled))
    return work
  }

  /** Resolves when no tracked work is running. */
  async settled(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished)
  }

  async end(): Promise<void> {
    this.#closing.abort()
    this.#disposal.abort()
    await this.#endOnce()
  }
}
