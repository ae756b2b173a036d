/** Runs in a fork of Bun's zygote. Renews the state that all forks would otherwise share: seeds, ids, the environment. */
import type { BunLibrary } from './bun-library.ts'
import { takeIdentity } from './take-identity.ts'

/** More bytes than Bun buffers for small requests. The rest of the buffer is the same in every fork, so it is discarded. */
const bufferedRandomBytes = 4096
/** Small enough to be taken from the buffer. */
const drawBytes = 256

const getBuiltin = process.getBuiltinModule as (name: string) => unknown
const { setRandomSeed } = getBuiltin('bun:jsc') as { readonly setRandomSeed: (seed: number) => void }

export function becomeAnother(library: BunLibrary): void {
  takeIdentity(library)
  reseed()
}

function reseed(): void {
  const draw = new Uint8Array(drawBytes)
  for (let drawn = 0; drawn < bufferedRandomBytes; drawn += drawBytes) crypto.getRandomValues(draw)
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1))
  setRandomSeed(seed)
}
