/** From a Lazaret's creation to the end of all that it has begun. */
import { setMaxListeners } from 'node:events'

import { endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors.ts'

export class Lifetime {
  readonly #disposal = new AbortController()
  readonly #unfinished = new Set<Promise<unknown>>()
  readonly #endOnce: () => Promise<void>

  /** `endAll` ends everything; when it has failed, the next `end()` tries it again. */
  constructor(endAll: () => Promise<void>) {
    // Every run listens, which older Nodes take for a leak from the eleventh on.
    setMaxListeners(0, this.#disposal.signal)
    this.#endOnce = endOnce(endAll)
  }

  /** Work that the end waits for. Throws DISPOSED. */
  during<T>(work: () => Promise<T>): Promise<T> {
    if (this.#disposal.signal.aborted) return Promise.reject(new LazaretError('DISPOSED'))
    return this.track(work())
  }

  /** Aborted at the end, and by whoever else may end one piece of work. */
  signalWith(signal: AbortSignal | undefined): AbortSignal {
    const disposal = this.#disposal.signal
    return signal === undefined ? disposal : AbortSignal.any([disposal, signal])
  }

  /** The end waits for it, whatever becomes of it. */
  track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    )
    this.#unfinished.add(settled)
    void settled.then(() => this.#unfinished.delete(settled))
    return work
  }

  /** Resolves when nothing that is tracked goes on. */
  async settled(): Promise<void> {
    while (this.#unfinished.size > 0) await Promise.allSettled(this.#unfinished)
  }

  async end(): Promise<void> {
    this.#disposal.abort()
    await this.#endOnce()
  }
}
