import assert from 'node:assert/strict'
import { test } from 'node:test'

import { FairQueue } from '../../src/pool/fair-queue.ts'

function queueOf(...entries: readonly (readonly [client: string, item: number])[]): FairQueue<number> {
  const queue = new FairQueue<number>()
  for (const [client, item] of entries) queue.add(client, item)
  return queue
}

function takeAll(queue: FairQueue<number>): number[] {
  const taken: number[] = []
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item)
  return taken
}

test('one client is served in the order in which it came', () => {
  assert.deepEqual(takeAll(queueOf(['a', 1], ['a', 2], ['a', 3])), [1, 2, 3])
})

test('clients are served in turn, however much one of them wants', () => {
  const queue = queueOf(['a', 1], ['a', 2], ['a', 3], ['b', 4], ['c', 5], ['b', 6])
  assert.deepEqual(takeAll(queue), [1, 4, 5, 2, 6, 3])
})

test('a client that has just had a turn comes after clients that arrived in the meantime', () => {
  const queue = queueOf(['a', 1], ['a', 2])
  assert.equal(queue.take(), 1)
  queue.add('b', 3)
  assert.deepEqual(takeAll(queue), [2, 3])
  const other = queueOf(['a', 1], ['b', 2], ['a', 3])
  other.take()
  other.add('c', 4)
  assert.deepEqual(takeAll(other), [2, 3, 4])
})

test('the next matching request is taken, and the others keep their places', () => {
  const queue = queueOf(['a', 1], ['a', 2], ['b', 3], ['b', 4])
  assert.equal(
    queue.take((item) => item % 2 === 0),
    2,
  )
  assert.equal(
    queue.take((item) => item > 9),
    undefined,
  )
  assert.deepEqual(takeAll(queue), [3, 1, 4])
})

test('a cancelled request is removed once', () => {
  const queue = queueOf(['a', 1], ['a', 2], ['b', 3])
  assert.deepEqual([queue.remove('a', 2), queue.remove('a', 2), queue.remove('b', 1)], [true, false, false])
  assert.equal(queue.remove('nobody', 1), false)
  assert.equal(queue.remove('b', 3), true)
  assert.deepEqual(takeAll(queue), [1])
})

test('counts the queued requests of all clients', () => {
  const queue = queueOf(['a', 1], ['a', 2], ['b', 3])
  assert.deepEqual([queue.length, queue.isEmpty], [3, false])
  queue.remove('b', 3)
  assert.equal(queue.length, 2)
  takeAll(queue)
  assert.deepEqual([queue.length, queue.isEmpty], [0, true])
})
