/** What decoding promises beyond the round trip: which objects stay one, where it stops, and how long it may take. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Pace, TooSlow } from '../../src/core/decode-pace.ts'
import { decodeTagged } from '../../src/core/decode-value.ts'
import { Unserializable } from '../../src/core/encode-leaf.ts'
import { depthMax } from '../../src/core/encode-value.ts'
import { decodeUntrusted, decodeValue, encodeValue } from '../../src/core/values.ts'
import { fillCollection } from '../../src/core/fill-collection.ts'

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
  test('keeps dates, patterns and bytes that lie at two places one object', () => {
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

  test('keeps equal ones that are two objects two', () => {
    const [first, second] = decodeValue(encodeValue([new Date(0), new Date(0)]).value) as [object, object]
    assert.notEqual(first, second)
  })

  test('gives an AggregateError its class', () => {
    const decoded = decodeValue(encodeValue(new AggregateError([1], 'all')).value)
    assert.ok(decoded instanceof AggregateError)
    assert.deepEqual([decoded.errors, Object.keys(decoded)], [[1], []])
  })

  test('keeps what has no values inside on the last level, and cuts what has', () => {
    for (const last of [NaN, undefined, 5n, -0]) {
      const { value, truncated } = encodeValue(nest(depthMax + 1, last))
      assert.equal(truncated, false)
      assert.deepEqual(decodeUntrusted(value), { value: nest(depthMax + 1, last), truncated: false })
    }
    assert.ok(innermost(decodeValue(encodeValue(nest(depthMax + 1, new Date(0))).value)) instanceof Date)
    assert.ok(innermost(encodeValue(nest(depthMax + 1, new Map())).value) !== undefined)
    assert.equal(encodeValue(nest(depthMax + 1, new Map())).truncated, true)
  })

  test('does not run into a prototype that the host has frozen', () => {
    const keys = { toString: 1, constructor: 2, ['__proto__']: 3, hasOwnProperty: 4 }
    const { value } = encodeValue(keys)
    const decoded = decodeValue(value) as object
    assert.deepEqual(Object.entries(decoded), Object.entries(keys))
    assert.equal(Object.getPrototypeOf(decoded), Object.prototype)
  })
})

describe('Decoding a document that no harness of ours wrote', () => {
  test('says that it was cut where it is too deep', () => {
    const decoded = decodeUntrusted(nest(depthMax + 2, 1))
    assert.deepEqual(
      [decoded.truncated, innermost(decoded.value)],
      [true, new Unserializable('[nested too deeply]')],
    )
    assert.equal(decodeUntrusted(nest(depthMax + 1, 1)).truncated, false)
  })

  test('gives up when filling a collection takes too long, and says so', () => {
    let nowMs = 0
    const slow = new Pace(() => (nowMs += 1000))
    const large = { $type: 'Set', value: Array.from({ length: 3000 }, (_, index) => index) }
    assert.deepEqual(decodeTagged([large], slow), {
      value: new Unserializable('[takes too long to decode]'),
      truncated: true,
    })
  })

  test('gives up when reading patterns takes too long', () => {
    let nowMs = 0
    const pattern = { $type: 'RegExp', source: 'a', flags: '' }
    assert.equal(decodeTagged([pattern], new Pace(() => (nowMs += 100))).truncated, false)
    assert.equal(
      decodeTagged(
        [pattern, { ...pattern }, pattern, { ...pattern }, pattern, pattern],
        new Pace(() => (nowMs += 100)),
      ).truncated,
      true,
    )
  })

  test('leaves a pattern that is too long to be read as it is', () => {
    const pattern = { $type: 'RegExp', source: 'a'.repeat(4097), flags: '' }
    assert.deepEqual(decodeValue(pattern), pattern)
    assert.ok(decodeTagged(pattern).value instanceof RegExp)
  })
})

describe('A pace', () => {
  test('gives a collection as much time as it has members', () => {
    let nowMs = 0
    // A part of 1,024 members earns two milliseconds.
    const pace = new Pace(() => (nowMs += 1))
    const live = new Set<number>()
    fillCollection(2_000_000, (index) => live.add(index), pace)
    assert.equal(live.size, 2_000_000)
  })

  test('does not look at the clock for small collections', () => {
    const pace = new Pace(() => assert.fail('looked'))
    const live = new Set<number>()
    fillCollection(64, (index) => live.add(index), pace)
    assert.equal(live.size, 64)
  })

  test('ends work that used its time up', () => {
    let nowMs = 0
    const pace = new Pace(() => (nowMs += 400))
    pace.spend(1, () => {})
    assert.throws(() => pace.spend(1, () => {}), TooSlow)
  })
})
