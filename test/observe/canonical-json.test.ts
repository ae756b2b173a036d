import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../support/fast-check.ts'

import { canonicalJson } from '../../src/observe/canonical-json.ts'

test('the example of RFC 8785 gives the result of the RFC', () => {
  const example = {
    numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
    string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
    literals: [null, true, false],
  }
  assert.equal(
    canonicalJson(example),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  )
  const names = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, ö: 7 }
  assert.deepEqual(Object.values(JSON.parse(canonicalJson(names)) as object), [4, 2, 6, 7, 1, 5, 3])
})

test('equal values have one text, whatever the order of their keys, which parses to the same value', () =>
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = canonicalJson(value)
      assert.equal(canonicalJson(JSON.parse(text)), text)
      assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(value)))
      assert.equal(canonicalJson(reversed(value)), text)
    }),
  ))

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([key, member]) => [key, reversed(member)]),
  )
}

test('values that JSON cannot express, and endless nesting, are refused', () => {
  for (const value of [Number.NaN, 1n, undefined, [undefined], () => 1, Symbol('x')])
    assert.throws(() => canonicalJson(value), TypeError)
  let deep: unknown = 1
  for (let level = 0; level < 100_000; level++) deep = [deep]
  assert.throws(() => canonicalJson(deep), TypeError)
})
