/** How much the host process grows during a soak, after everything that is created once exists. */
import { heldBytes } from '../../test/support/machine/resident-memory.ts'

/** Measurements in the second half of the runs. */
const looks = 10

export class Growth {
  readonly #runs: number
  readonly #every: number
  readonly #sizes: number[] = []

  constructor(runs: number) {
    this.#runs = runs
    this.#every = Math.max(1, Math.floor(runs / 2 / looks))
  }

  /** Called after each run with the number of runs so far. */
  look(runs: number): void {
    if (runs > this.#runs / 2 && runs % this.#every === 0) this.#sizes.push(heldBytes())
  }

  /** From the third quarter of the runs to the last. */
  get bytes(): number {
    return floorGrowth(this.#sizes)
  }
}

/**
 * The growth from the first half of the sizes to the second. The allocator keeps a few MiB more at some times than at
 * others, but the lowest size rises only if something is held.
 */
export function floorGrowth(sizes: readonly number[]): number {
  const half = Math.floor(sizes.length / 2)
  return sizes.length < 2 ? 0 : Math.min(...sizes.slice(half)) - Math.min(...sizes.slice(0, half))
}
