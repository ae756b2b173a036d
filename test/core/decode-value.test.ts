/** Guarantees of decoding beyond the round trip: shared objects, the maximum depth, and the time that it may take. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decodeSteps, decodeTagged } from '../../src/core/values/decode-value.ts'
import { Unserializable } from '../../src/core/values/encode-leaf.ts'
import { depthMax } from '../../src/core/values/value-depth.ts'
import { decodeUntrusted, decodeValue, encodeValue } from '../../src/core/values/values.ts'

const nest = (levels: number, inner: unknown): unknown => {
  let value = inner
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

function innermost(value: unknown): unknown {
  let inner = value
  while (Array.isArray(inner)) inner = inner[0]
  return inner
}

describe('Decoding what was encoded', () => {
  test('decodes a date, pattern or bytes at two places as one object', () => {
    for (const shared of [
      new Date(0),
      /a/g,
      new Uint8Array(1),
      new ArrayBuffer(1),
      new DataView(new ArrayBuffer(1)),
    ]) {
      const [first, second] = decodeValue(encodeValue([shared, shared]).value) as [object, object]
      assert.equal(first, second)
      assert.equal(first.constructor, shared.constructor)
    }
  })

  test('decodes two equal objects as two', () => {
    const [first, second] = decodeValue(encodeValue([new Date(0), new Date(0)]).value) as [object, object]
    assert.notEqual(first, second)
  })

  test('decodes an AggregateError as one', () => {
    const decoded = decodeValue(encodeValue(new AggregateError([1], 'all')).value)
    assert.ok(decoded instanceof AggregateError)
    assert.deepEqual([decoded.errors, Object.keys(decoded)], [[1], []])
  })

  test('keeps simple values on the last level, and cuts containers', () => {
    for (const last of [NaN, undefined, 5n, -0]) {
      const { value, truncated } = encodeValue(nest(depthMax + 1, last))
      assert.equal(truncated, false)
      assert.deepEqual(decodeUntrusted(value), { value: nest(depthMax + 1, last), truncated: false })
    }
    assert.ok(innermost(decodeValue(encodeValue(nest(depthMax + 1, new Date(0))).value)) instanceof Date)
    assert.ok(innermost(encodeValue(nest(depthMax + 1, new Map())).value) !== undefined)
    assert.equal(encodeValue(nest(depthMax + 1, new Map())).truncated, true)
  })

  test('works if the host has frozen prototypes', () => {
    const keys = { toString: 1, constructor: 2, ['__proto__']: 3, hasOwnProperty: 4 }
    const { value } = encodeValue(keys)
    const decoded = decodeValue(value) as object
    assert.deepEqual(Object.entries(decoded), Object.entries(keys))
    assert.equal(Object.getPrototypeOf(decoded), Object.prototype)
  })
})

describe('Decoding a document that our harness did not write', () => {
  test('reports that it was cut if it is too deep', () => {
    const decoded = decodeUntrusted(nest(depthMax + 2, 1))
    assert.deepEqual(
      [decoded.truncated, innermost(decoded.value)],
      [true, new Unserializable('[nested too deeply]')],
    )
    assert.equal(decodeUntrusted(nest(depthMax + 1, 1)).truncated, false)
  })

  test('can be stopped between any two steps', () => {
    const large = { $type: 'Set', value: Array.from({ length: 3000 }, (_, index) => index) }
    const steps = decodeSteps([large, { $type: 'Ref', path: [0] }])
    let count = 0
    for (let step = steps.next(); step.done !== true; step = steps.next()) count++
    assert.ok(count > 40, String(count))
    assert.deepEqual(
      decodeUntrusted([large, { $type: 'Ref', path: [0] }]).value,
      decodeTagged([large, { $type: 'Ref', path: [0] }]).value,
    )
  })

  test('does not decode a pattern with many named character sets', () => {
    const [few, many] = [8, 9].map((count) => ({
      $type: 'RegExp',
      source: '\\p{L}'.repeat(count),
      flags: 'u',
    }))
    assert.ok(decodeValue(few) instanceof RegExp)
    assert.deepEqual(decodeValue(many), many)
  })

  test('does not decode a pattern that is too long', () => {
    const pattern = { $type: 'RegExp', source: 'a'.repeat(4097), flags: '' }
    assert.deepEqual(decodeValue(pattern), pattern)
    assert.ok(decodeTagged(pattern).value instanceof RegExp)
  })
})
