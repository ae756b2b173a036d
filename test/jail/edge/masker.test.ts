/** Hidden texts in a stream stay hidden, wherever it is divided. masked-forms.test.ts has the forms of a secret. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../support/fast-check.ts'
import { fixedSeed } from '../../support/seed.ts'
import { seededRandom } from '../../support/seeded-random.ts'

import { HiddenValues } from '../../../src/jail/edge/secrets/hidden-values.ts'
import { Masker } from '../../../src/jail/edge/secrets/masker.ts'

function mask(text: string, cuts: readonly number[], hidden: readonly string[]): string {
  const masker = new Masker(new HiddenValues(hidden))
  const ends = [...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted((a, b) => a - b)
  const pieces = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end))
  const shown = pieces.map((piece) => masker.push(Buffer.from(piece, 'latin1')))
  return Buffer.concat([...shown, masker.end()]).toString('latin1')
}

test('a hidden text that arrives in pieces is covered, and nothing else is', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 's'), maxLength: 4 })
  const secret = 'sesame-sesame'
  fc.assert(
    fc.property(word, word, fc.array(fc.nat(), { maxLength: 6 }), (before, after, cuts) => {
      const text = `${before} ${secret}${after} end`
      const covered = `${before} ${'*'.repeat(secret.length)}${after} end`
      assert.equal(mask(text, cuts, [secret]), covered)
    }),
    { numRuns: 300 },
  )
})

test('each of several hidden texts is covered, also one inside of another, in any case of letters', () => {
  assert.equal(mask('One TWOTHREE two.', [5, 9], ['twothree', 'two']), 'One ******** ***.')
})

test('the last word is held back until it is complete, whether or not a hidden text begins like it', () => {
  const masker = new Masker(new HiddenValues(['sesame']))
  const push = (text: string) => masker.push(Buffer.from(text)).toString()
  assert.equal(push('open ses'), 'open ')
  assert.equal(push('sion other'), 'session ')
  assert.equal(masker.end().toString(), 'other')
})

test('a line that may be broken inside a value is held back with its end, whatever it contains', () => {
  for (const line of ['a=', 'x'.repeat(56), `${'x'.repeat(72)}+/00`])
    for (const end of ['\n', '\r', '\r\n']) {
      const masker = new Masker(new HiddenValues(['sesame']))
      assert.equal(
        masker.push(Buffer.from(`${line}${end}`)).length,
        Math.max(0, line.length + end.length - 107),
      )
    }
  const masker = new Masker(new HiddenValues(['sesame']))
  assert.equal(masker.push(Buffer.from(`${'x'.repeat(55)}\n`)).length, 56)
})

test('a value is found after any number of unfinished spellings', () => {
  const hidden = new HiddenValues(['sesame-%&"-sesame'])
  const random = seededRandom(fixedSeed)
  const letters = '%25\\u0&#x;="\'7e3c'
  const noise = Array.from({ length: 120_000 }, () => letters[Math.floor(random() * letters.length)]).join('')
  const masker = new Masker(hidden)
  masker.push(Buffer.from(noise))
  const text = '<sesame-%25&amp;\\"-sesame>'
  const shown = Buffer.concat([masker.push(Buffer.from(` ${text}`)), masker.end()]).toString()
  assert.match(shown, / <\*+>$/)
})
