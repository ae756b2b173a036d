/** Spaces need namespaces: without them sandboxes have no servers and cannot isolate secrets. */
import { isAtLeast } from '../../src/core/protection.ts'
import { createLazaret } from './create-lazaret.ts'

/** Why tests of whole sandboxes are skipped here; false if they are not. */
export async function whyNoSandboxes(): Promise<string | false> {
  await using lazaret = createLazaret({ onEvent: () => undefined })
  const { level } = await lazaret.probe()
  return isAtLeast(level, 'standard') ? false : `spaces need namespaces, and this machine reaches ${level}`
}
