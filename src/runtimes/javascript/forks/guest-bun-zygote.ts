/** The zygote of Bun. */
import type { ParkRequest } from '../../channel/channel-protocol.ts'
import { openRealm } from '../serve.ts'
import { becomeAnother } from './become-another-bun.ts'
import { openBunLibrary } from './bun-library.ts'
import { runZygote } from './zygote.ts'

interface BunGlobal {
  readonly gc: (isNow: boolean) => number
  readonly sleepSync: (ms: number) => void
}

/** Long enough for the collector's threads to become idle after a collection. */
const quietMs = 10
/** The size in bytes of JavaScriptCore's random stream after a refill. */
const refilledBytes = 1_600_000

const library = openBunLibrary(process.argv[2] ?? '')

void runZygote({
  name: 'Bun',
  version: process.versions['bun'] ?? '',
  versionsTried: ['1.4.5'],
  library,
  settle() {
    endCollection()
    return endSeeds()
  },
  becomeAnother: () => becomeAnother(library),
  async load({ park, realm }: ParkRequest) {
    if (realm === 'bare') await openRealm(park)
  },
})

/** The garbage collector and other threads wait for each other during a collection. A fork must happen while it is idle. */
function endCollection(): void {
  const { Bun } = globalThis as unknown as { readonly Bun: BunGlobal }
  Bun.gc(true)
  Bun.sleepSync(quietMs)
}

/**
 * A new realm, that is, a context or a worker, seeds its `Math.random` from a random stream. All forks would draw the same
 * seeds, so the stream is emptied. Creating a realm must change the stream as expected, which proves that it is the right
 * one. Returns what is wrong.
 */
function endSeeds(): string | undefined {
  const { seedBytesLeft, useUpSeeds } = library
  const { createContext } = process.getBuiltinModule('node:vm')
  const drawnMax = 1000
  const drawFrom = (): number => (createContext({}), seedBytesLeft())
  const before = seedBytesLeft()
  const between = drawFrom()
  useUpSeeds()
  const after = drawFrom()
  useUpSeeds()
  const isDrawn = between < before && between > before - drawnMax
  const isRefilled = after <= refilledBytes && after > refilledBytes - drawnMax
  return isDrawn && isRefilled ? undefined : 'the random stream that seeds realms was not found'
}
