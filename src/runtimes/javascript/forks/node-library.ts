/** The library in native/zygote, as Node calls it: an addon. */
import { readVariables } from './take-identity.ts'
import type { ForkLibrary } from './zygote.ts'

export interface NodeLibrary extends ForkLibrary {
  /** In a fork: OpenSSL and V8's seed generators continue from the kernel's random bytes. */
  readonly renewRandomness: () => void
  /** How many of V8's generators of seeds there are; they are known from then on. */
  readonly findSeeds: () => number
  /** Whether one of them has drawn since this was asked last. */
  readonly seedsWereDrawn: () => boolean
  /**
   * Computes from the last 64 numbers of `Math.random` how many numbers it still has ready before it takes a new seed.
   * Negative if that was not found.
   */
  readonly forgetNumbers: (drawn: readonly number[]) => number
}

interface Addon {
  readonly prepare: () => string
  readonly serve: (socketDescriptor: number) => number
  readonly environment: () => string[] | null
  readonly processId: () => number
  /** 0, or an errno. */
  readonly reviveAfter: (delayMs: number) => number
  readonly openStage: () => number
  readonly closeStage: (otherEnd: number) => number
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
    reviveAfter(delayMs) {
      const errno = addon.reviveAfter(delayMs)
      if (errno !== 0) throw new Error(`The threads of this process cannot be made again: errno ${errno}.`)
    },
    openStage() {
      const otherEnd = addon.openStage()
      if (otherEnd < 0) throw new Error('There is no place to rehearse.')
      return otherEnd
    },
    closeStage(otherEnd) {
      if (addon.closeStage(otherEnd) === 0) throw new Error('The rehearsal cannot be ended.')
    },
    renewRandomness() {
      // A run whose random numbers others have is none.
      if (addon.renewRandomness() === 0)
        throw new Error('The random numbers of this process cannot be renewed.')
    },
    seedsWereDrawn: () => addon.seedsWereDrawn() !== 0,
  }
}
