/** Warm workers, where this Lazaret has them: they live between runs, and a check for what is left sends them home first. */
import { LazaretError, createLazaret } from '../../src/index.ts'
import type { Lazaret, LazaretOptions } from '../../src/index.ts'

const size = { min: 0, max: 0 }
const none = { bun: size, node: size, python: size, shell: size }
const withoutPools = { pools: none } as LazaretOptions

/** Whatever its cases ask for, all at one time. */
export const unboundedOptions = {
  access: { networks: ['none', 'host'], preload: true },
  queue: { runningMax: 1000, memoryTotalBytes: 2 ** 40 },
} as const satisfies LazaretOptions

/** Options under which every run gets a cell that is made for it. */
export function coldOptions(): LazaretOptions {
  return havePools() ? withoutPools : {}
}

/** Whether there is anything that can be switched off. */
export function havePools(): boolean {
  try {
    void createLazaret(withoutPools)[Symbol.asyncDispose]()
    return true
  } catch (error) {
    if (error instanceof LazaretError && error.code === 'INVALID_REQUEST') return false
    throw error
  }
}

/** Resolves when no worker waits any more. */
export async function drain(lazaret: Lazaret): Promise<void> {
  await lazaret.releaseWorkers()
}
