/** How much the host process grows while a soak lasts, once it has made what is made once. */
import { heldBytes } from '../../test/support/machine/resident-memory.ts'

/** In the second half of the runs. */
const looks = 10

export class Growth {
  readonly #runs: number
  readonly #every: number
  readonly #sizes: number[] = []

  constructor(runs: number) {
    this.#runs = runs
    this.#every = Math.max(1, Math.floor(runs / 2 / looks))
  }

  /** After each run, with how many there were. */
  look(runs: number): void {
    if (runs > this.#runs / 2 && runs % this.#every === 0) this.#sizes.push(heldBytes())
  }

  /** From the third quarter of the runs to the last. */
  get bytes(): number {
    return floorGrowth(this.#sizes)
  }
}

/**
 * From the first half of the sizes to the second. The allocator keeps some MiB more at one look than at another, but
 * the lowest size only rises if something is held.
 */
export function floorGrowth(sizes: readonly number[]): number {
  const half = Math.floor(sizes.length / 2)
  return sizes.length < 2 ? 0 : Math.min(...sizes.slice(half)) - Math.min(...sizes.slice(0, half))
}
