/**
 * Seeds of what tests draw at random. `LAZARET_TEST_SEED` replaces each of them, to repeat a failure.
 */
import { randomInt } from 'node:crypto'

const given = process.env['LAZARET_TEST_SEED']

/** For `test/`: what runs on each landing draws the same values each time, so it fails only after a change. */
export const fixedSeed = Number(given ?? 20_261_128)

/** For `test-deep/`, which draws other values each time. The caller prints it. */
export function drawSeed(): number {
  return Number(given ?? randomInt(1_000_000))
}
