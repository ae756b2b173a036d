import assert from 'node:assert/strict'
import { test } from 'node:test'

import { LazaretError } from '../../src/core/errors/errors.ts'
import type { ErrorCode } from '../../src/core/errors/errors.ts'
import { isTransient, retry } from '../../src/policy/retry.ts'
import { FakeClock } from '../pool/fake-worker.ts'

async function failWith(
  failure: unknown,
  options: { readonly random?: () => number; signal?: AbortSignal } = {},
) {
  const clock = new FakeClock()
  const attempts: number[] = []
  const pauses: number[] = []
  const act = async (attempt: number) => {
    attempts.push(attempt)
    throw failure
  }
  const tried = Promise.allSettled([retry(act, { clock, random: () => 1, ...options })])
  for (;;) {
    await new Promise(setImmediate)
    if (clock.nextMs === undefined) break
    pauses.push(clock.nextMs)
    clock.advance(clock.nextMs)
  }
  const [end] = await tried
  return { attempts, pauses, thrown: end.status === 'rejected' ? (end.reason as unknown) : undefined }
}

test('four attempts, with pauses that double, and the last error is thrown', async () => {
  const error = new LazaretError('WORKER_LOST')
  const { attempts, pauses, thrown } = await failWith(error)
  assert.deepEqual(
    [attempts, pauses],
    [
      [1, 2, 3, 4],
      [200, 400, 800],
    ],
  )
  assert.equal(thrown, error)
})

test('a part of each pause is random', async () => {
  const { pauses } = await failWith(new LazaretError('QUEUE_FULL'), { random: () => 0 })
  assert.deepEqual(pauses, [100, 200, 400])
})

test('only temporary faults and full queues are retried', async () => {
  const passing: ErrorCode[] = ['QUEUE_FULL', 'CLIENT_QUEUE_FULL', 'WORKER_LOST', 'CELL_FAILED']
  const lasting: ErrorCode[] = ['RATE_LIMITED', 'CIRCUIT_OPEN', 'NOT_ADMITTED', 'INVALID_REQUEST', 'INTERNAL']
  assert.ok(passing.every((code) => isTransient(new LazaretError(code))))
  for (const error of [...lasting.map((code) => new LazaretError(code)), new Error('x'), null])
    assert.deepEqual((await failWith(error)).attempts, [1])
})

test('nothing is retried after a success, and an abort ends the pauses', async () => {
  const clock = new FakeClock()
  assert.equal(await retry(async (attempt) => attempt, { clock }), 1)
  const abort = new AbortController()
  const error = new LazaretError('WORKER_LOST')
  const tried = retry(() => Promise.reject(error), { clock, signal: abort.signal })
  await new Promise(setImmediate)
  abort.abort()
  await assert.rejects(tried, error)
  assert.equal(clock.nextMs, undefined)
})
