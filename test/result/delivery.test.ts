import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { OutputChunk, RunRequest } from '../../src/core/request.ts'
import { Delivery } from '../../src/result/delivery.ts'

function chunk(text: string): OutputChunk {
  return { stream: 'stdout', bytes: Buffer.from(text), text, atMs: 0 }
}

/** A delivery to `take`, and what its listener receives. */
function deliver(take: NonNullable<RunRequest['onOutput']>) {
  const delivered: string[] = []
  const delivery = new Delivery(take, {
    onFull: () => delivered.push('full'),
    onEmpty: () => delivered.push('empty'),
    onFailure: (error) => delivered.push(`failed: ${(error as Error).message}`),
  })
  return { delivery, delivered }
}

test('output that the caller takes at once is delivered at once', async () => {
  const taken: string[] = []
  const { delivery, delivered } = deliver(({ text }) => taken.push(text))
  delivery.push(chunk('a'))
  delivery.push(chunk('b'))
  assert.deepEqual([taken, delivered], [['a', 'b'], []])
  await delivery.finish(undefined)
})

test('while the caller takes one piece, the next ones wait, in order', async () => {
  const taken: string[] = []
  const gates: PromiseWithResolvers<void>[] = []
  const { delivery, delivered } = deliver(({ text }) => {
    taken.push(text)
    gates.push(Promise.withResolvers<void>())
    return gates.at(-1)?.promise ?? Promise.reject(new Error('no gate'))
  })
  for (const text of ['a', 'b', 'c']) delivery.push(chunk(text))
  const finished = delivery.finish(undefined)
  for (const expected of ['a', 'ab', 'abc']) {
    assert.equal(taken.join(''), expected)
    gates.at(-1)?.resolve()
    await new Promise(setImmediate)
  }
  await finished
  assert.deepEqual(delivered, [])
})

test('thousands of small pieces that wait are joined, each stream in its own order', async () => {
  const gate = Promise.withResolvers<void>()
  const taken: OutputChunk[] = []
  const { delivery, delivered } = deliver(async (piece) => {
    taken.push(piece)
    await gate.promise
  })
  for (let count = 0; count < 5000; count++) {
    delivery.push(chunk(`${count},`))
    delivery.push({ ...chunk(`${count};`), stream: 'stderr' })
  }
  gate.resolve()
  await delivery.finish(undefined)
  const textOf = (stream: string) =>
    taken.map((piece) => (piece.stream === stream ? piece.text : '')).join('')
  const numbers = Array.from({ length: 5000 }, (_, index) => index)
  assert.equal(textOf('stdout'), numbers.map((number) => `${number},`).join(''))
  assert.equal(textOf('stderr'), numbers.map((number) => `${number};`).join(''))
  for (const { bytes, text } of taken) assert.equal(Buffer.from(bytes).toString(), text)
  assert.ok(taken.length < 100, `${taken.length} pieces`)
  assert.deepEqual(delivered, [])
})

test('the source is stopped when 64 KiB wait, and resumes when all of it has been taken', async () => {
  const gate = Promise.withResolvers<void>()
  let taken = 0
  const { delivery, delivered } = deliver(async ({ bytes }) => {
    await gate.promise
    taken += bytes.length
  })
  const piece = chunk('x'.repeat(16 * 1024))
  for (let count = 0; count < 4; count++) delivery.push(piece)
  assert.deepEqual(delivered, [])
  delivery.push(piece)
  delivery.push(piece)
  assert.deepEqual(delivered, ['full'])
  gate.resolve()
  await delivery.finish(undefined)
  assert.deepEqual([taken, delivered], [6 * 16 * 1024, ['full', 'empty']])
})

test('other notices are delivered in order with the output, which is not joined across them', async () => {
  const gate = Promise.withResolvers<void>()
  const texts: string[] = []
  const { delivery } = deliver(async ({ text }) => {
    texts.push(text)
    await gate.promise
  })
  for (let count = 0; count < 100; count++) delivery.push(chunk('a'))
  delivery.tell(1, () => void texts.push('|'))
  for (let count = 0; count < 100; count++) delivery.push(chunk('b'))
  delivery.tell(1, async () => void texts.push('|'))
  gate.resolve()
  await delivery.finish(undefined)
  assert.equal(texts.join(''), `${'a'.repeat(100)}|${'b'.repeat(100)}|`)
})

test('other notices stop the source like output, even empty ones', async () => {
  const gate = Promise.withResolvers<void>()
  const { delivery, delivered } = deliver(() => undefined)
  const wait = () => gate.promise
  for (let count = 0; count <= 64; count++) delivery.tell(0, wait)
  assert.deepEqual(delivered, [])
  for (let count = 0; count <= 64; count++) delivery.tell(1024, wait)
  assert.deepEqual(delivered, ['full'])
  gate.resolve()
  await delivery.finish(undefined)
  assert.deepEqual(delivered, ['full', 'empty'])
})

for (const [how, take] of [
  ['throws', () => assert.fail('mistake')],
  ['rejects', () => Promise.reject(new Error('mistake'))],
] as const) {
  test(`an error of a function that ${how} is reported once, and it is not called again`, async () => {
    let calls = 0
    const { delivery, delivered } = deliver(() => {
      calls++
      return take()
    })
    delivery.push(chunk('a'))
    delivery.push(chunk('b'))
    await new Promise(setImmediate)
    delivery.push(chunk('c'))
    assert.equal(calls, 1)
    assert.deepEqual(delivered, ['failed: mistake'])
    await assert.rejects(delivery.finish(undefined), { message: 'mistake' })
  })
}

test('delivery does not wait for a caller that has stopped reading', async () => {
  const taken: string[] = []
  const { delivery } = deliver(({ text }) => {
    taken.push(text)
    return new Promise(() => undefined)
  })
  delivery.push(chunk('a'))
  delivery.push(chunk('b'))
  const controller = new AbortController()
  const finished = delivery.finish(controller.signal)
  controller.abort()
  await finished
  await delivery.finish(controller.signal)
  assert.deepEqual(taken, ['a'])
})
