/** Random secrets, encoded by the libraries of guests: nothing comes back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { seededRandom } from '../seeded-random.ts'
import type { TestLazaret } from '../use-lazaret.ts'
import { encodingGuests } from './encoding-guests.ts'
import { drawSecrets, findShown } from './find-shown.ts'

const batchLength = 500

/** Declares the tests. */
export function describeEncodingGuests(
  guests: TestLazaret,
  { count, seed }: { count: number; seed: number },
): void {
  for (const [language, request] of Object.entries(encodingGuests))
    test(`masked: ${count} secrets, encoded by the libraries of ${language}`, async () => {
      const random = seededRandom(seed)
      for (let left = count; left > 0; left -= batchLength) {
        const secrets = drawSecrets(Math.min(left, batchLength), random)
        const input = secrets.map(({ value }) => value)
        const { outcome, value: encoded } = await guests.run({ ...request, input })
        assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
        for (const [encoder, texts] of Object.entries(encoded as Record<string, string[]>))
          for (const [index, { value, hidden }] of secrets.entries()) {
            const shown = findShown({ encoder, text: texts[index] ?? '', hidden }, random)
            assert.equal(shown, undefined, `${encoder}: ${value}`)
          }
      }
    })
}
