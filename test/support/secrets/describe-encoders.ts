/** Random secrets in whatever way libraries write them, in answers that arrive in pieces: nothing comes back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { seededRandom } from '../seeded-random.ts'
import { javascript, rules } from './encoders.ts'
import { drawSecrets, findShown } from './find-shown.ts'

/** Declares the tests. */
export function describeEncoders({ count, seed }: { count: number; seed: number }): void {
  const random = seededRandom(seed)
  const secrets = drawSecrets(count, random)
  for (const [encoder, encode] of Object.entries({ ...javascript, ...rules }))
    test(`masked: ${encoder}`, () => {
      for (const { value, hidden } of secrets) {
        const shown = findShown({ encoder, text: encode(value), hidden }, random)
        assert.equal(shown, undefined, JSON.stringify(value))
      }
    })
}
