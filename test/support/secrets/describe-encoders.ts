/** Random secrets in whatever way libraries write them, in answers that arrive in pieces: nothing comes back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { seededRandom } from '../seeded-random.ts'
import type { TestLazaret } from '../use-lazaret.ts'
import { javascript, rules } from './encoders.ts'
import type { encodingGuests } from './encoding-guests.ts'
import { drawSecrets, findShown } from './find-shown.ts'

/** The tables of more secrets would take much memory. */
const batchLength = 500

interface Draw {
  readonly count: number
  readonly seed: number
}

type ByEncoder = Readonly<Record<string, readonly string[]>>

/** Declares the tests of the encoders that Node has, and of those whose rules are known. */
export function describeEncoders(draw: Draw): void {
  describeDraw('JavaScript and by rules', draw, (values) => {
    const encoded = Object.entries({ ...javascript, ...rules }).map(([name, encode]) => [
      name,
      values.map(encode),
    ])
    return Promise.resolve(Object.fromEntries(encoded) as ByEncoder)
  })
}

/** Declares the tests of the libraries of guests. */
export function describeEncodingGuests(
  { run }: TestLazaret,
  { programs, ...draw }: Draw & { readonly programs: typeof encodingGuests },
): void {
  for (const [language, request] of Object.entries(programs))
    describeDraw(language, draw, async (input) => {
      const { outcome, value } = await run({ ...request, input })
      assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
      return value as ByEncoder
    })
}

function describeDraw(
  language: string,
  { count, seed }: Draw,
  encode: (values: readonly string[]) => Promise<ByEncoder>,
): void {
  for (let start = 0; start < count; start += batchLength)
    test(`masked: random secrets from number ${start} on, encoded by ${language}`, async () => {
      const random = seededRandom(seed + start)
      const secrets = drawSecrets(Math.min(count - start, batchLength), random)
      const byEncoder = await encode(secrets.map(({ value }) => value))
      for (const [encoder, texts] of Object.entries(byEncoder)) {
        assert.equal(texts.length, secrets.length)
        for (const [index, { value, hidden }] of secrets.entries()) {
          const shown = findShown({ encoder, text: texts[index] ?? '', hidden }, random)
          assert.equal(shown, undefined, `${encoder}: ${value}`)
        }
      }
    })
}
