/** Values of the maximum size pass completely in both directions; with one byte more they are refused, with a reason. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { Unserializable } from '../src/core/values/encode-leaf.ts'
import { ampleMs } from '../test/support/patient-run.ts'
import { bun, node, python, useLazaret } from '../test/support/use-lazaret.ts'

const guests = await useLazaret()

const most = 16 * 1024 * 1024
const limits = { memoryBytes: 1024 * 1024 * 1024, wallMs: ampleMs, hostMs: ampleMs }
const completed = { kind: 'completed', exitCode: 0 }
const quotes = 2

const languages = {
  bun: {
    request: bun,
    length: 'input.length',
    text: (length: number) => `'x'.repeat(${length})`,
    bytes: (length: number) => `new Uint8Array(${length})`,
  },
  node: {
    request: node,
    length: 'input.length',
    text: (length: number) => `'x'.repeat(${length})`,
    bytes: (length: number) => `new Uint8Array(${length})`,
  },
  python: {
    request: python,
    length: 'len(input_data)',
    text: (length: number) => `'x' * ${length}`,
    bytes: (length: number) => `bytes(${length})`,
  },
}

for (const [name, { request, length, text, bytes }] of Object.entries(languages)) {
  describe(`values of 16 MiB in ${name}`, () => {
    test('can be passed in', async () => {
      const { outcome, value } = await guests.run({
        ...request,
        code: length,
        input: 'x'.repeat(most - quotes),
        limits,
      })
      assert.deepEqual([outcome, value], [completed, most - quotes])
    })

    test('are refused with one byte more', async () => {
      const run = guests.run({ ...request, code: length, input: 'x'.repeat(most - quotes + 1), limits })
      await assert.rejects(run, { code: 'INPUT_TOO_LARGE' })
    })

    test('can be returned', async () => {
      const { outcome, value, truncated } = await guests.run({
        ...request,
        code: text(most - quotes),
        limits,
      })
      assert.deepEqual(outcome, completed)
      assert.deepEqual([(value as string).length, truncated], [most - quotes, []])
    })

    test('are cut with one byte more', async () => {
      const { outcome, value, truncated } = await guests.run({
        ...request,
        code: text(most - quotes + 1),
        limits,
      })
      assert.deepEqual([outcome, truncated], [completed, ['value']])
      assert.ok(value instanceof Unserializable)
    })

    test('may be bytes, in both directions', async () => {
      const sent = new Uint8Array(12_000_000).fill(7)
      const code = request.language === 'python' ? 'input_data' : 'input'
      const { outcome, value } = await guests.run({ ...request, code, input: sent, limits })
      assert.deepEqual(outcome, completed)
      assert.ok(value instanceof Uint8Array && Buffer.from(value).equals(sent))
      assert.deepEqual((await guests.run({ ...request, code: bytes(13_000_000), limits })).truncated, [
        'value',
      ])
    })
  })
}

test('integers with colliding hashes do not block the host', async () => {
  for (const code of ['{2**64 * i for i in range(1, 60_000)}', '{2**64 * i: 0 for i in range(1, 50_000)}']) {
    const result = await guests.run({ ...python, code, limits: { ...limits, hostMs: 1000 } })
    assert.deepEqual([result.outcome, result.truncated], [completed, ['value']])
    assert.ok(!('value' in result))
  }
})

test('a value with too many lists is refused', async () => {
  const { outcome, truncated, ...rest } = await guests.run({
    ...python,
    code: '[[] for _ in range(2**20)]',
    limits,
  })
  assert.deepEqual([outcome, truncated, 'value' in rest], [completed, ['value'], false])
})
