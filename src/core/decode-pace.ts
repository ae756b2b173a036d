/**
 * Bounds the time that decoding may take where the engine decides how long a step takes. V8 finds integers in a Map by
 * a hash that anybody can compute, so a guest can choose a hundred thousand that all lie in one bucket and keep the host
 * busy for minutes; and it reads a regular expression at once, where `\p{L}` costs 50 µs.
 */
export class Pace {
  readonly #now: () => number
  #leftMs = startMs

  constructor(now: () => number) {
    this.#now = now
  }

  /** Does a part of the work, made of so many steps. Throws `TooSlow` after it when the time is up. */
  spend(steps: number, work: () => void): void {
    const started = this.#now()
    work()
    this.#leftMs += steps * stepMs - (this.#now() - started)
    if (this.#leftMs < 0) throw new TooSlow()
  }
}

export class TooSlow extends Error {}

/** Ten times what a step takes on a slow machine, and enough at the start that a pause of the whole machine passes. */
const stepMs = 0.002
const startMs = 500
