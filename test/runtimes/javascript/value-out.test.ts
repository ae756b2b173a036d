import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Unserializable } from '../../../src/core/values/encode-leaf.ts'
import { describeEngines } from './guest-process.ts'

describeEngines('A value that leaves the guest', (run) => {
  test('arrives as a live value', async () => {
    const { value } = await run(
      '({ date: new Date(1e12), map: new Map([[{ a: 1 }, new Set([1n])]]), re: /a+/gi, nan: NaN, zero: -0, big: -(10n ** 5000n), bytes: new Float64Array([0.5]), holes: [1, , undefined], [`__proto__`]: 5, $type: "Date" })',
    )
    assert.deepEqual(value, {
      date: new Date(1e12),
      map: new Map([[{ a: 1 }, new Set([1n])]]),
      re: /a+/gi,
      nan: NaN,
      zero: -0,
      big: -(10n ** 5000n),
      bytes: new Float64Array([0.5]),
      // eslint-disable-next-line no-sparse-arrays
      holes: [1, , undefined],
      ['__proto__']: 5,
      $type: 'Date',
    })
  })

  test('keeps cycles and sharing', async () => {
    const value = (await run('const shared = {}; const a = { shared, again: shared }; a.self = a; a'))
      .value as Record<string, unknown>
    assert.equal(value['self'], value)
    assert.equal(value['shared'], value['again'])
  })

  test('may be an error, with stack, cause and fields', async () => {
    const { value } = await run('Object.assign(new TypeError("bad", { cause: 1 }), { code: "E" })')
    assert.ok(value instanceof TypeError)
    assert.deepEqual([value.message, value.cause, Reflect.get(value, 'code')], ['bad', 1, 'E'])
    assert.equal(value.stack, 'TypeError: bad\n    at <code>:1:15')
  })

  test('describes what cannot be transferred', async () => {
    const { value } = await run(
      '[function f() {}, Symbol("s"), new Promise(() => {}), { get a() { throw new Error("no") } }, new Proxy([], { get() { throw new Error("trap") } })]',
    )
    const texts = ['[Function: f]', 'Symbol(s)', '[object Promise]']
    assert.deepEqual(
      (value as unknown[]).slice(0, 3),
      texts.map((text) => new Unserializable(text)),
    )
    assert.deepEqual((value as unknown[])[3], { a: new Unserializable('[getter threw: no]') })
    assert.ok((value as unknown[])[4] instanceof Unserializable)
  })

  test('is cut where it is nested too deeply', async () => {
    const { value, isValueTruncated, exitCode } = await run(
      'let d = 0; for (let i = 0; i < 100_000; i++) d = { d }; d',
    )
    assert.deepEqual([isValueTruncated, exitCode], [true, 0])
    let depth = 0
    for (let at = value; at !== null && typeof at === 'object' && 'd' in at; at = at.d) depth++
    assert.equal(depth, 1001)
  })

  test('is replaced when it is too large', async () => {
    for (const code of [
      '"x".repeat(1000)',
      'Array(1000).fill(1)',
      'new Uint8Array(1000)',
      'new Array(2 ** 32 - 1)',
      '"é".repeat(300)',
    ]) {
      const { value, isValueTruncated } = await run({ code, resultBytes: 500 })
      assert.deepEqual([value, isValueTruncated], [new Unserializable('[larger than 500 bytes]'), true], code)
    }
  })

  test('may be as large as the limit', async () => {
    const { value, isValueTruncated } = await run({ code: '"x".repeat(498)', resultBytes: 500 })
    assert.deepEqual([value, isValueTruncated], ['x'.repeat(498), false])
  })

  test('has a text of at most 64 KiB', async () => {
    const { valueText } = await run(
      'Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => ["k" + i, i]))',
    )
    assert.ok(Buffer.byteLength(valueText ?? '') <= 65_536)
  })
})
