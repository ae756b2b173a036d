/** Sandboxes need namespaces: where a machine refuses them there is nothing to try. */
import { isAtLeast } from '../../src/core/protection.ts'
import { createLazaret } from '../../src/index.ts'

/** Why tests of sandboxes are skipped here; false when they are not. */
export async function whyNoSandboxes(): Promise<string | false> {
  await using lazaret = createLazaret({ onEvent: () => undefined })
  const { level } = await lazaret.probe()
  return isAtLeast(level, 'standard') ? false : `sandboxes need namespaces, and this machine reaches ${level}`
}
