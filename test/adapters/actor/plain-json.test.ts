/** Values from a guest that are expensive to write as plain JSON. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'

import { toPlainJson } from '../../../src/adapters/actor/plain-json.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'

const refs = (count: number) => Array.from({ length: count }, () => ({ $type: 'Ref', path: ['shared'] }))
const keys = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`k${index}`, 1]))

const costly: Readonly<Record<string, unknown>> = {
  'a pattern whose source is a list, shared a hundred thousand times': {
    shared: { $type: 'RegExp', source: Array.from({ length: 100_000 }, () => 1), flags: '' },
    all: refs(100_000),
  },
  'an object of many keys, shared': { shared: keys, all: refs(100_000) },
  'a list, shared': { shared: [1, [], 'a', {}], all: refs(280_000) },
  'a million lists': Array.from({ length: 1_000_000 }, () => []),
  bytes: Array.from({ length: 4 }, () => ({ $type: 'bytes', value: 'A'.repeat(480_000) })),
}

for (const [name, value] of Object.entries(costly))
  test(`${name}: the event loop is not blocked`, async () => {
    await keepLoopFree(name, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      toPlainJson(value)
    })
  })

test('a value is complete, however late this process is scheduled', () => {
  let nowMs = 0
  const now = mock.method(performance, 'now', () => (nowMs += 1000))
  try {
    const value = { a: Array.from({ length: 2000 }, () => [1, 'two', { $type: 'BigInt', value: '3' }]) }
    assert.deepEqual(toPlainJson(value), { a: Array.from({ length: 2000 }, () => [1, 'two', '3']) })
  } finally {
    now.mock.restore()
  }
})

test('a malformed pattern or error is an object with its fields', () => {
  assert.deepEqual(toPlainJson({ $type: 'RegExp', source: { toString: 1 }, flags: '' }), {
    $type: 'RegExp',
    source: { toString: 1 },
    flags: '',
  })
  assert.equal(toPlainJson({ $type: 'Error', name: { toString: 1 }, message: 5 }), 'Error')
})

test('a value that does not fit is replaced by a note, and earlier ones are kept', () => {
  const plain = toPlainJson([1, ...Array.from({ length: 2_100_000 }, () => 2)]) as unknown[]
  assert.deepEqual([plain[0], plain.at(-1)], [1, '[too large]'])
})
