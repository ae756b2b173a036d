import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { LazaretError } from '../../src/core/errors/errors.ts'
import { ExecutionPool } from '../../src/policy/execution-pool.ts'
import { FakeClock } from '../pool/fake-worker.ts'

const turn = () => new Promise(setImmediate)

function fill(count: number, client = 'flood') {
  const clock = new FakeClock()
  const pool = new ExecutionPool({ clock })
  const ends: (() => void)[] = []
  const order: string[] = []
  const refused: LazaretError[] = []
  const submit = (by: string) => {
    const act = async () => {
      order.push(by)
      await new Promise<void>((resolve) => ends.push(resolve))
    }
    pool.submit(act, { client: by }).catch((error: LazaretError) => refused.push(error))
  }
  for (let number = 0; number < count; number++) submit(client)
  return { clock, pool, ends, order, refused, submit }
}

test('ten run and fifty wait; one more is refused with the documented text', async () => {
  const { pool, refused } = fill(61)
  await turn()
  assert.deepEqual([pool.running, pool.waiting, refused.length], [10, 50, 1])
  const [{ code, message, retryAfterMs = 0 } = {} as LazaretError] = refused
  assert.deepEqual([code, message], ['QUEUE_FULL', 'Execution queue full. Please retry in a few seconds.'])
  assert.ok(retryAfterMs > 0)
})

test('a queued execution waits at most a minute', async () => {
  const { clock, pool, refused } = fill(12)
  await turn()
  clock.advance(59_999)
  await turn()
  assert.equal(refused.length, 0)
  clock.advance(1)
  await turn()
  assert.deepEqual([refused.length, pool.waiting, pool.running], [2, 0, 10])
  assert.equal(refused[0]?.message, 'Execution queue full. Please retry in a few seconds.')
})

test('a moderate client is next after a flood, even if that fills the queue', async () => {
  const { ends, order, refused, submit } = fill(60)
  await turn()
  submit('polite')
  await turn()
  assert.deepEqual(
    refused.map(({ code, message }) => [code, message]),
    [['CLIENT_QUEUE_FULL', 'Execution queue full. Please retry in a few seconds.']],
  )
  ends[0]?.()
  await turn()
  assert.equal(order.at(-1), 'polite')
})

test('an error of an execution is thrown to its caller, and its place is freed', async () => {
  const pool = new ExecutionPool({ clock: new FakeClock() })
  await assert.rejects(
    pool.submit(() => Promise.reject(new Error('mine'))),
    /mine/,
  )
  assert.deepEqual([pool.running, await pool.submit(async (queuedMs) => queuedMs)], [0, 0])
})
