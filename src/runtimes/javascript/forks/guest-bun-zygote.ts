/** The zygote of Bun. */
import type { ParkRequest } from '../../channel/channel-protocol.ts'
import { openRealm } from '../serve.ts'
import { becomeAnother } from './become-another-bun.ts'
import { openBunLibrary } from './bun-library.ts'
import { runZygote } from './zygote.ts'

interface Collecting {
  readonly gc: (isNow: boolean) => number
  readonly sleepSync: (ms: number) => void
}

/** Long enough for a thread that has collected to wait for the next collection again. */
const quietMs = 10
/** The bytes of JavaScriptCore's stream of seeds after it was refilled. */
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

/** What collects garbage has other threads wait for it while it does, and waits for them: forks are to find it idle. */
function endCollection(): void {
  const { Bun } = globalThis as unknown as { readonly Bun: Collecting }
  Bun.gc(true)
  Bun.sleepSync(quietMs)
}

/**
 * `Math.random` of a new realm, which a context or a worker is, starts from a seed that is drawn from a stream, and forks
 * would draw the same ones. Answers what is wrong: whether it is that stream is seen by what a new realm does to it.
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
  return isDrawn && isRefilled ? undefined : 'its stream of seeds is not found'
}
