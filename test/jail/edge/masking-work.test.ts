/**
 * How long it takes to mask an answer must not depend on how much of a secret it has: a guest that makes a server repeat
 * its guesses would find the secret letter by letter. The steps are counted, because times are too rough for a test.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixedSeed } from '../../support/seed.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { javascript, rules } from '../../support/secrets/encoders.ts'

import { HiddenValues } from '../../../src/jail/edge/secrets/hidden-values.ts'
import { Masker } from '../../../src/jail/edge/secrets/masker.ts'

function countSteps(hidden: HiddenValues, text: string): number {
  const before = hidden.work.steps
  const masker = new Masker(hidden)
  const shown = Buffer.concat([masker.push(Buffer.from(text, 'latin1')), masker.end()])
  assert.equal(shown.toString('latin1'), text, 'nothing is masked')
  return hidden.work.steps - before
}

const random = seededRandom(fixedSeed)
const draw = (alphabet: string, length: number): string =>
  Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
/** The end makes sure that all secrets are of one kind. */
const alphabets = {
  'letters and digits': {
    alphabet: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
    end: '0a',
  },
  'letters, digits and punctuation': {
    alphabet: `Aa0Bb1Cc2Dd3Ee4Ff5Gg6Hh7!"#$%&'()*+,-./:;<=>?@[]^_{|}~\\`,
    end: '~"',
  },
  'characters and spaces': { alphabet: `Aa0 Bb1 %&"'\\=`, end: ' a' },
}
const encoders = Object.entries({ ...javascript, ...rules, itself: (text: string) => text })

for (const [kind, { alphabet, end }] of Object.entries(alphabets))
  for (const length of [8, 24])
    test(`the beginnings of a secret take as many steps as of any other: ${length} ${kind}`, () => {
      const [secret = '', ...others] = Array.from(
        { length: 4 },
        () => draw(alphabet, length - end.length) + end,
      )
      const [right, ...wrong] = [secret, ...others].map((value) => new HiddenValues([value]))
      for (const [encoder, encode] of encoders) {
        const guesses = Array.from({ length: length - 3 }, (_, index) => encode(secret.slice(0, index + 2)))
        const text = `x=${guesses.join('&')}\n${guesses.join('\n')}`
        const expected = countSteps(right as HiddenValues, text)
        for (const hidden of wrong) assert.equal(countSteps(hidden, text), expected, encoder)
      }
    })
