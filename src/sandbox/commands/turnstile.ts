import { LazaretError } from '../../core/errors/errors.ts'

const waitingMax = 10_000

/** Lets a fixed number through at one time, in the order of their arrival. */
export class Turnstile {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(places: number) {
    this.#free = places
  }

  /** Resolves with a function that returns the place. */
  async enter(): Promise<() => void> {
    if (this.#free > 0) this.#free--
    else if (this.#waiting.length >= waitingMax) {
      throw new LazaretError('QUEUE_FULL', { detail: `${waitingMax} are queued in this sandbox.` })
    } else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    let isInside = true
    return () => {
      if (isInside) this.#leave()
      isInside = false
    }
  }

  #leave(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}
