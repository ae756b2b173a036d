/** Runs in a fork of Node's zygote. Renews the state that all forks would otherwise share: seeds, ids, the environment. */
import type { NodeLibrary } from './node-library.ts'
import { takeIdentity } from './take-identity.ts'

/** After the first call, `randomUUID` and `randomInt` buffer the random bytes of this many values. */
const buffered = { uuids: 128, numbers: 1024 }

export function becomeAnother(library: NodeLibrary, hasPackages: boolean): void {
  takeIdentity(library)
  // Node caches the working directory until `chdir` is called.
  process.chdir('.')
  library.renewRandomness()
  if (hasPackages) discardBuffers()
}

/** The harness calls neither function, but packages may have called them. */
function discardBuffers(): void {
  const { randomInt, randomUUID } = process.getBuiltinModule('node:crypto')
  for (let drawn = 0; drawn < buffered.uuids; drawn++) randomUUID()
  for (let drawn = 0; drawn <= buffered.numbers; drawn++) randomInt(2)
}
