/** The level that cells reach on this machine, for tests without their own Lazaret. */
import type { ProtectionLevel } from '../../../src/index.ts'
import { createLazaret } from '../create-lazaret.ts'

export async function levelHere(): Promise<ProtectionLevel> {
  await using lazaret = createLazaret()
  return (await lazaret.probe()).level
}
