/** In a fork of Bun's zygote: renews everything that was seeded, counted or read before the fork. */
import type { BunLibrary } from './bun-library.ts'
import { takeIdentity } from './take-identity.ts'

/** More bytes than Bun keeps ready for small requests: what is left of them is the same in every fork. */
const keptRandomBytes = 4096
/** Small enough to be taken from them. */
const drawBytes = 256

const getBuiltin = process.getBuiltinModule as (name: string) => unknown
const { setRandomSeed } = getBuiltin('bun:jsc') as { readonly setRandomSeed: (seed: number) => void }

export function becomeAnother(library: BunLibrary): void {
  takeIdentity(library)
  reseed()
}

function reseed(): void {
  const draw = new Uint8Array(drawBytes)
  for (let drawn = 0; drawn < keptRandomBytes; drawn += drawBytes) crypto.getRandomValues(draw)
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1))
  setRandomSeed(seed)
}
