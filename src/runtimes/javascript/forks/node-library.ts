/** The library in native/zygote, which Node loads as an addon. */
import { readVariables } from './take-identity.ts'
import type { ForkLibrary } from './zygote.ts'

export interface NodeLibrary extends ForkLibrary {
  /** In a fork: reseeds OpenSSL and V8's seed generators from the kernel. */
  readonly renewRandomness: () => void
  /** Finds V8's seed generators and returns how many there are. The library remembers them. */
  readonly findSeeds: () => number
  /** Whether a seed generator has produced a seed since the last call. */
  readonly seedsWereDrawn: () => boolean
  /**
   * Computes from the last 64 results of `Math.random` how many more numbers V8 has cached. After those, it takes a new
   * seed. Negative if the state was not found.
   */
  readonly forgetNumbers: (drawn: readonly number[]) => number
}

interface Addon {
  readonly serve: (socketDescriptor: number) => string
  readonly environment: () => string[] | null
  readonly processId: () => number
  readonly awaitRequest: () => void
  readonly openSampleChannel: () => number
  readonly closeSampleChannel: (otherEnd: number) => number
  readonly renewRandomness: () => number
  readonly findSeeds: () => number
  readonly seedsWereDrawn: () => number
  readonly forgetNumbers: (drawn: readonly number[]) => number
}

export function openNodeLibrary(path: string): NodeLibrary {
  const module = { exports: {} }
  process.dlopen(module, path)
  const addon = module.exports as Addon
  return {
    ...addon,
    environment() {
      const entries = addon.environment()
      return entries === null ? undefined : readVariables(entries)
    },
    openSampleChannel() {
      const otherEnd = addon.openSampleChannel()
      if (otherEnd < 0) throw new Error('No channel can be opened for a sample run.')
      return otherEnd
    },
    closeSampleChannel(otherEnd) {
      if (addon.closeSampleChannel(otherEnd) === 0)
        throw new Error('The channel of a sample run cannot be closed.')
    },
    renewRandomness() {
      // Two runs must never have the same random numbers.
      if (addon.renewRandomness() === 0)
        throw new Error('The random numbers of this process cannot be renewed.')
    },
    seedsWereDrawn: () => addon.seedsWereDrawn() !== 0,
  }
}
