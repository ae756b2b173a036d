/** In a fork of Node's zygote: renews everything that was seeded, counted or read before the fork. */
import type { NodeLibrary } from './node-library.ts'
import { takeIdentity } from './take-identity.ts'

/** `randomUUID` and `randomInt` keep the bytes for this many values once they were called. */
const kept = { uuids: 128, numbers: 1024 }

export function becomeAnother(library: NodeLibrary, hasPackages: boolean): void {
  takeIdentity(library)
  // Node remembers the folder that it was asked for.
  process.chdir('.')
  library.renewRandomness()
  if (hasPackages) useUpRandomness()
}

/** The harness calls neither; packages may have. */
function useUpRandomness(): void {
  const { randomInt, randomUUID } = process.getBuiltinModule('node:crypto')
  for (let drawn = 0; drawn < kept.uuids; drawn++) randomUUID()
  for (let drawn = 0; drawn <= kept.numbers; drawn++) randomInt(2)
}
