/** A pool whose workers are lost while they start. The test controls the moment, which is impossible with real ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import { LazaretError } from '../../src/core/errors/errors.ts'
import { LastingPool } from '../../src/pool/lasting-pool.ts'
import type { LastingWorker } from '../../src/runtimes/work/worker.ts'

const lost = new LazaretError('WORKER_LOST', { detail: 'It was lost while it started.' })
const missing = new LazaretError('RUNTIME_UNAVAILABLE', { detail: 'There is none.' })

/** One worker at a time. Each of `failures` is the result of one start; later starts succeed. */
function openPool({ failures, hasSecondStart }: { failures: Error[]; hasSecondStart: boolean }) {
  const waiting = [...failures]
  let starts = 0
  const start = (): LastingWorker<string, string> => {
    starts += 1
    const failure = waiting.shift()
    return {
      ready: async () => {
        if (failure !== undefined) throw failure
      },
      run: async (job) => `${job} done`,
      fits: () => 'best',
      end: async () => undefined,
    }
  }
  const parts = { clock: systemClock, noun: 'job', workersMax: 1, waitingMax: 10, hasSecondStart, start }
  return { pool: new LastingPool<string, string>(parts), starts: () => starts }
}

const isLost = { code: 'WORKER_LOST' }

test('a job continues to wait if the worker that starts for it is lost', async () => {
  const { pool, starts } = openPool({ failures: [lost], hasSecondStart: true })
  await using _ = pool
  assert.equal((await pool.run('a')).end, 'a done')
  assert.equal(starts(), 2)
})

test('a job is refused if a second worker is lost, and the next job can lose two workers again', async () => {
  const { pool, starts } = openPool({ failures: [lost, lost, lost], hasSecondStart: true })
  await using _ = pool
  await assert.rejects(pool.run('a'), isLost)
  assert.equal((await pool.run('b')).end, 'b done')
  assert.equal(starts(), 4)
})

test('a worker that can never start is not started again', async () => {
  const { pool, starts } = openPool({ failures: [missing, missing], hasSecondStart: true })
  await using _ = pool
  await assert.rejects(pool.run('a'), { code: 'RUNTIME_UNAVAILABLE' })
  assert.equal(starts(), 1)
})

test('a job is refused at once if the pool allows no second start', async () => {
  const { pool, starts } = openPool({ failures: [lost], hasSecondStart: false })
  await using _ = pool
  await assert.rejects(pool.run('a'), isLost)
  assert.equal(starts(), 1)
})

/** A job arrives while a worker starts for another job that has been cancelled. */
async function runAfterCancelled(pool: LastingPool<string, string>) {
  const controller = new AbortController()
  const first = pool.run('a', { signal: controller.signal })
  controller.abort()
  const second = pool.run('b')
  assert.equal((await first).end, null)
  return second
}

test('the loss of a worker that was starting before a job came does not count for the job', async () => {
  const { pool, starts } = openPool({ failures: [lost], hasSecondStart: false })
  await using _ = pool
  assert.equal((await runAfterCancelled(pool)).end, 'b done')
  assert.equal(starts(), 2)
})

test('a job is refused if the worker that was started for it is lost as well', async () => {
  const { pool, starts } = openPool({ failures: [lost, lost], hasSecondStart: false })
  await using _ = pool
  await assert.rejects(runAfterCancelled(pool), isLost)
  assert.equal(starts(), 2)
})

test('a worker that is never ready is lost, and another one is started', async () => {
  const intervals: (() => void)[] = []
  const clock = {
    ...systemClock,
    every: (_ms: number, callback: () => void) => {
      intervals.push(callback)
      return () => undefined
    },
  }
  let starts = 0
  const start = (): LastingWorker<string, string> => {
    const isFirst = ++starts === 1
    return {
      ready: () => (isFirst ? new Promise<never>(() => undefined) : Promise.resolve()),
      run: async (job) => `${job} done`,
      fits: () => 'best',
      end: async () => undefined,
    }
  }
  const parts = { clock, noun: 'job', workersMax: 1, waitingMax: 10, hasSecondStart: true, start }
  await using pool = new LastingPool<string, string>(parts)
  const done = pool.run('a')
  await new Promise((resolve) => setImmediate(resolve))
  for (const callback of intervals.splice(0)) callback()
  assert.equal((await done).end, 'a done')
  assert.equal(starts, 2)
})
