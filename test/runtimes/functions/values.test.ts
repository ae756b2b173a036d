/** The values in calls of host functions, and the number of concurrent calls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { HostFunction } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { assertCompleted, caller, runtimes } from './calling.ts'

const { run } = await useLazaret()

for (const [name, guest] of Object.entries(runtimes)) {
  const call = caller(run, guest)

  test(`${name}: a function is called with its arguments, and its value comes back`, async () => {
    const seen: unknown[] = []
    const result = await call(
      { javascript: 'await add(1, 2.5)', python: 'add(1, 2.5)' },
      {
        add: (...args) => {
          seen.push(args)
          return Number(args[0]) + Number(args[1])
        },
      },
    )
    assertCompleted(result)
    assert.equal(result.value, 3.5)
    assert.deepEqual(seen, [[1, 2.5]])
  })

  test(`${name}: values keep their type in both directions`, async () => {
    const seen: unknown[] = []
    const sent = {
      date: new Date(5),
      map: new Map<unknown, unknown>([[1, new Set([2])]]),
      bytes: new Uint8Array([1, 2]),
      big: 12345678901234567890n,
      list: [null, true, 'é\ud83d\ude00', -0.5],
      $type: 'mine',
    }
    const { value, stderr } = await call(
      { javascript: 'await swap([await swap(1)])', python: 'swap([swap(1)])' },
      {
        swap: (...args) => {
          seen.push(args)
          return sent
        },
      },
    )
    assert.deepEqual(value, sent, stderr)
    assert.deepEqual(seen, [[1], [[sent]]])
  })

  test(`${name}: a function without a return value gives None or undefined`, async () => {
    const { value } = await call(
      { javascript: '(await nothing()) === undefined', python: 'nothing() is None' },
      { nothing: () => undefined },
    )
    assert.equal(value, true)
  })

  test(`${name}: 1,000 calls at once are each answered with their own value`, async () => {
    const waiting: (() => void)[] = []
    const square: HostFunction = (number) =>
      new Promise((resolve) => {
        waiting.push(() => resolve(Number(number) ** 2))
        // All calls are open before the first is answered, and they are answered in reverse order.
        if (waiting.length === 1000) for (const answer of waiting.toReversed()) answer()
      })
    const result = await call(
      {
        javascript: 'await Promise.all(Array.from({ length: 1000 }, (_, index) => square(index)))',
        python: 'import asyncio\nawait asyncio.gather(*(square(index) for index in range(1000)))',
      },
      { square },
    )
    assertCompleted(result)
    assert.deepEqual(
      result.value,
      Array.from({ length: 1000 }, (_, index) => index ** 2),
    )
  })

  test(`${name}: more calls than the concurrent maximum wait, in order`, async () => {
    const order: unknown[] = []
    let open = 0
    let openMost = 0
    const take: HostFunction = async (number, text) => {
      order.push(number)
      openMost = Math.max(openMost, ++open)
      await Promise.resolve()
      open--
      return `${String(text)}`.length
    }
    const { value, stderr } = await call(
      {
        javascript: `const text = 'x'.repeat(10_000)
          new Set(await Promise.all(Array.from({ length: 5000 }, (_, index) => take(index, text))))`,
        python: `import asyncio\ntext = 'x' * 10_000\nset(await asyncio.gather(*[take(index, text) for index in range(5000)]))`,
      },
      { take },
    )
    assert.deepEqual(value, new Set([10_000]), stderr)
    assert.deepEqual(
      order,
      Array.from({ length: 5000 }, (_, index) => index),
    )
    assert.ok(openMost <= 1024, String(openMost))
  })
}
