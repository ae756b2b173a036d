import { LazaretError } from '../../core/errors/errors.ts'

const waitingMax = 10_000

/** A counting semaphore with a bounded queue: first come, first served. */
export class Semaphore {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Resolves with the function that releases it. */
  async acquire(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else if (this.#waiting.length >= waitingMax) {
      throw new LazaretError('QUEUE_FULL', { detail: `${waitingMax} operations are queued in this sandbox.` })
    } else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let isHeld = true
    return () => {
      if (isHeld) this.#release()
      isHeld = false
    }
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
