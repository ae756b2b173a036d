/** Options about parked workers, which live between runs; a check for leftovers ends them first. */
import { LazaretError, createLazaret } from '../../src/index.ts'
import type { Lazaret, LazaretOptions } from '../../src/index.ts'

const size = { min: 0, max: 0 }
const none = { bun: size, node: size, python: size, shell: size }
const withoutPools = { pools: none } as LazaretOptions

/** Allows everything that the cases ask for, all at one time. */
export const unboundedOptions = {
  access: { networks: ['none', 'host'], preload: true },
  queue: { runningMax: 1000, memoryTotalBytes: 2 ** 40 },
} as const satisfies LazaretOptions

/** Options with which every run gets a new cell. */
export function coldOptions(): LazaretOptions {
  return havePools() ? withoutPools : {}
}

/** Whether this Lazaret accepts the option `pools`. */
export function havePools(): boolean {
  try {
    void createLazaret(withoutPools)[Symbol.asyncDispose]()
    return true
  } catch (error) {
    if (error instanceof LazaretError && error.code === 'INVALID_REQUEST') return false
    throw error
  }
}

/** Resolves when no worker is parked. */
export async function drain(lazaret: Lazaret): Promise<void> {
  await lazaret.releaseWorkers()
}
