import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'

import { keysOf } from '../../src/core/known-keys.ts'
import { JsonReader, TooCostly } from '../../src/runtimes/channel/json-reader.ts'

const bounds = { levelsMax: 50, itemsMax: 100_000 }

function read(text: string): unknown {
  const reader = new JsonReader(text, bounds)
  while (!reader.advance(1));
  return reader.value
}

/** The result or error of either parser for a text. */
function outcomeOf(parse: (text: string) => unknown, text: string): unknown {
  try {
    return { value: parse(text) }
  } catch (thrown) {
    return thrown instanceof SyntaxError ? 'no JSON' : thrown
  }
}

const requireSame = (text: string) =>
  assert.deepStrictEqual(outcomeOf(read, text), outcomeOf(JSON.parse, text), text.slice(0, 200))

test('valid JSON is parsed as by JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.nat(2), (value, space) =>
      requireSame(JSON.stringify(value, null, space)),
    ),
  )
})

test('invalid JSON is refused as by JSON.parse', () => {
  fc.assert(
    fc.property(
      fc.json(),
      fc.nat(),
      fc.constantFrom(...'[]{}",:\\ 1eu-.\u0000tn'.split('')),
      (text, place, put) => {
        const at = place % (text.length + 1)
        requireSame(text.slice(0, at) + put + text.slice(at))
        requireSame(text.slice(0, at) + put + text.slice(at + 1))
        requireSame(text.slice(0, at))
      },
    ),
  )
})

test('long strings and keys are joined from their pieces', () => {
  for (const part of ['a', '\\u00e9', '\\ud83d\\ude00', '😀', '\\"', '\\\\', 'x\\n'])
    for (let shift = 0; shift < 7; shift++) {
      const string = `"${'-'.repeat(shift)}${part.repeat(20_000)}"`
      requireSame(`{${string}:[${string}]}`)
    }
})

test('__proto__ is a key like any other, and of two equal keys the second counts', () => {
  requireSame('{"__proto__":{"a":1},"toString":2,"a":1,"a":2}')
})

test('keys of a large object are found', () => {
  const keys = Array.from({ length: 5000 }, (_, index) => `k${index}`)
  const value = read(`{${[...keys, 'k0'].map((key) => `"${key}":1`).join()}}`) as object
  assert.deepEqual(keysOf(value), Object.keys(value))
})

test('too many levels and too long lists are refused', () => {
  for (const text of [`${'['.repeat(51)}${']'.repeat(51)}`, `[${'1,'.repeat(100_000)}1]`])
    assert.throws(() => read(text), TooCostly)
})

test('the text of a field of the outermost object is returned', () => {
  const reader = new JsonReader('{"a": [1, {"b": 2}] ,"b":"x"}', bounds)
  while (!reader.advance(1));
  assert.deepEqual(
    [reader.textOf('a').trim(), reader.textOf('b'), reader.textOf('c')],
    ['[1, {"b": 2}]', '"x"', ''],
  )
})
