/** Globs: what they match, that they agree with a well-known library, and that no name makes them slow. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import fc from '../../support/fast-check.ts'
import picomatch from 'picomatch'

import { explainBadPattern, parsePattern } from '../../../src/runtimes/collect/pattern.ts'

function matches(pattern: string, path: string): boolean {
  assert.equal(explainBadPattern(pattern), undefined, pattern)
  return parsePattern(pattern).some((alternative) => alternative.matches(path))
}

const examples: Readonly<
  Record<string, { readonly yes: readonly string[]; readonly no: readonly string[] }>
> = {
  'a.txt': { yes: ['a.txt', 'a.txt/inside'], no: ['b/a.txt', 'a.txt2', 'A.txt'] },
  '*.csv': { yes: ['a.csv', 'ä😀.csv', '\n.csv'], no: ['d/a.csv', '.csv', '.a.csv', 'a.csv.gz'] },
  '**/*.csv': { yes: ['a.csv', 'd/a.csv', 'd/e/a.csv'], no: ['.d/a.csv', 'd/.a.csv'] },
  'out/**': { yes: ['out/a', 'out/d/e'], no: ['out', 'out2/a', 'out/.a', 'out/.d/a'] },
  out: { yes: ['out/a', 'out/.a', 'out/.d/e'], no: ['b/out', 'out2'] },
  'out/': { yes: ['out/a', 'out/.a'], no: ['out2/a'] },
  '/workspace/out': { yes: ['out/a'], no: ['workspace/out'] },
  './out/*': { yes: ['out/a'], no: ['out/d/a', 'out/.a'] },
  '/workspace': { yes: ['a', '.a', 'd/.e/f'], no: [] },
  '.': { yes: ['a', '.a', 'd/.e/f'], no: [] },
  '.*': { yes: ['.a', '.a.b'], no: ['a', '.d/a'] },
  '.cache/**': { yes: ['.cache/a'], no: ['.cache/.a', 'cache/a'] },
  '{a,b/{c,d}}.txt': { yes: ['a.txt', 'b/c.txt', 'b/d.txt'], no: ['b.txt', 'a', '{a,b}.txt'] },
  'a?c': { yes: ['abc', 'a😀c'], no: ['ac', 'a/c', 'abbc'] },
  '?a': { yes: ['ba'], no: ['.a'] },
  '[a-c][!0-9].txt': { yes: ['ab.txt', 'cz.txt'], no: ['a1.txt', 'dd.txt'] },
  '\\*\\[1\\].txt': { yes: ['*[1].txt'], no: ['a1.txt'] },
  'a (1)+|^$!.txt': { yes: ['a (1)+|^$!.txt'], no: ['a 1.txt'] },
  '!(a)': { yes: ['!(a)'], no: ['b'] },
  '{a}': { yes: ['{a}'], no: ['a'] },
  '[a': { yes: ['[a'], no: ['a'] },
  '**': { yes: ['a', 'b/c'], no: ['.a', 'b/.c'] },
  'a/**/b/*.c': { yes: ['a/b/x.c', 'a/x/y/b/x.c', 'a/b/b/x.c'], no: ['a/x.c', 'a/b/y/x.c'] },
}

for (const [pattern, { yes, no }] of Object.entries(examples)) {
  test(`${pattern} matches only ${yes.map((path) => JSON.stringify(path)).join(', ')}`, () => {
    for (const path of yes) assert.equal(matches(pattern, path), true, path)
    for (const path of no) assert.equal(matches(pattern, path), false, path)
  })
}

test('a pattern matches like in picomatch, as far as both support its syntax', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-'), minLength: 1, maxLength: 5 })
  const path = fc
    .array(
      // In picomatch, unlike in shells, `*.*` requires a character after the dot.
      name.filter((one) => !one.endsWith('.')),
      { minLength: 1, maxLength: 4 },
    )
    .map((parts) => parts.join('/'))
  const piece = fc.constantFrom('a', 'b', '.', '-', '*', '?', '[ab]', '[^b]', '{a*,?-}', '{?*,b?}')
  const part = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.array(piece, { minLength: 1, maxLength: 4 }).map((pieces) => pieces.join('')),
    },
    { weight: 1, arbitrary: fc.constant('**') },
  )
  const pattern = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join('/'))
    // A plain name also collects a folder here, so each alternative contains a wildcard. `**` within a name is `*`, and
    // a dot is never one of several first characters.
    .filter((text) => /[*?[{]/.test(text) && !/\*\*[^/]|[^/]\*\*|\*\{\*|(^|\/)(\[\^|\{)/.test(text))
    .filter((text) => explainBadPattern(text) === undefined)
  const options = { noextglob: true, nonegate: true, strictSlashes: true }
  fc.assert(
    fc.property(pattern, path, (glob, file) => {
      assert.equal(matches(glob, file), picomatch(glob, options)(file), `${glob} on ${file}`)
    }),
    { numRuns: 20_000 },
  )
})

describe('a pattern is refused', () => {
  const refused: Readonly<Record<string, string>> = {
    'that leads out of the workspace': '../etc/passwd',
    'that leads out of it from within': 'a/../../b',
    'that leads out in one alternative': '{a,../b}',
    'that is absolute': '/etc/passwd',
    'that only looks like the workspace': '/workspaces/a',
    'with an empty part': 'a//b',
    'with a part that says nothing': 'a/./b',
    'that is empty': '',
    'that is longer than 1024 characters': 'a'.repeat(1025),
    'with more than 64 alternatives': '{a,b}'.repeat(7),
  }
  for (const [why, pattern] of Object.entries(refused))
    test(why, () => assert.notEqual(explainBadPattern(pattern), undefined))
})

test('no name causes exponential matching: the work is at most the product of both lengths', () => {
  // The same as a regular expression would need some 10^40 steps to find that there is no match.
  const hostile = 'a'.repeat(255)
  assert.equal(matches(`${'*a'.repeat(100)}*b`, hostile), false)
  assert.equal(matches(`${'**/a*/'.repeat(60)}b`, Array.from({ length: 64 }, () => hostile).join('/')), false)
  assert.equal(matches(`${'{*a,*aa}'.repeat(5)}b`, hostile), false)
  assert.equal(matches(`${'['.repeat(500)}`, hostile), false)
  assert.equal(matches(`${'{'.repeat(1000)}`, hostile), false)
})
