/** The pool of workers: its start, statistics, queue and end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { CodeExecutionService, WorkerPool } from '../../../src/adapters/code-execution/index.ts'
import type { CodeExecutionResult, SlotEvent } from '../../../src/adapters/code-execution/index.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { findWorkers } from './find-workers.ts'

const idle = (workers: number) => ({
  totalWorkers: workers,
  activeWorkers: workers,
  busyWorkers: 0,
  queueLength: 0,
})
const none = idle(0)

/** A program that runs until `finish` is called. */
function heldOpen() {
  const begun = Promise.withResolvers<void>()
  const done = Promise.withResolvers<number>()
  const bridge = { wait: () => (begun.resolve(), done.promise) }
  const params = { code: 'output = await bridge.wait()', language: 'javascript', bridge } as const
  return { params, begun: begun.promise, finish: () => done.resolve(1) }
}

/** A clock on which waits of `ms` end when the test says so. */
function heldClock(ms: number) {
  const waits: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    after(asked, callback) {
      if (asked !== ms) return systemClock.after(asked, callback)
      waits.push(callback)
      return () => void waits.splice(waits.indexOf(callback), 1)
    },
  }
  return { clock, waits }
}

const quick = { code: 'output = 1', language: 'javascript' } as const

const countWorkers = (): number => findWorkers().length

test('the statistics are right before, during and after', async () => {
  await using service = new CodeExecutionService()
  assert.deepEqual(service.getStats(), none)
  await service.initialize()
  assert.deepEqual(service.getStats(), idle(2))
  const programs = [heldOpen(), heldOpen(), heldOpen()]
  const results = programs.map(({ params }) => service.execute(params))
  await Promise.all(programs.slice(0, 2).map(({ begun }) => begun))
  assert.deepEqual(service.getStats(), { totalWorkers: 2, activeWorkers: 2, busyWorkers: 2, queueLength: 1 })
  programs[0]?.finish()
  await Promise.all([results[0], programs[2]?.begun])
  assert.deepEqual(service.getStats(), { totalWorkers: 2, activeWorkers: 2, busyWorkers: 2, queueLength: 0 })
  for (const { finish } of programs) finish()
  for (const { output } of await Promise.all(results)) assert.equal(output, 1)
  assert.deepEqual(service.getStats(), idle(2))
  await service.shutdown()
  assert.deepEqual(service.getStats(), none)
})

test('concurrent first calls start no more processes than poolSize', async () => {
  const events: SlotEvent[] = []
  await using service = new CodeExecutionService({ poolSize: 2, onEvent: (event) => events.push(event) })
  const calls = Array.from({ length: 10 }, () => service.execute(quick))
  await Promise.all([service.initialize(), service.initialize(), ...calls, service.initialize()])
  for (const call of calls) assert.equal((await call).output, 1)
  assert.equal(events.filter(({ to }) => to === 'restarting').length, 2)
  assert.equal(countWorkers(), 2)
  assert.deepEqual(service.getStats(), idle(2))
  await service.shutdown()
  assert.equal(countWorkers(), 0)
})

test('it can be initialized again after an end, and may be ended twice', async () => {
  await using service = new CodeExecutionService({ poolSize: 1 })
  await service.shutdown()
  for (let round = 0; round < 2; round++) {
    assert.equal((await service.execute(quick)).output, 1)
    await Promise.all([service.shutdown(), service.shutdown()])
    assert.deepEqual(service.getStats(), none)
  }
  await service.initialize()
  const ending = service.shutdown()
  const restarted = service.initialize()
  assert.equal((await service.execute(quick)).error, 'Worker pool is shutting down')
  await Promise.all([ending, restarted])
  assert.deepEqual(service.getStats(), idle(1))
})

test('an end while the first workers start leaves none, and a later start has new ones', async () => {
  await using service = new CodeExecutionService({ poolSize: 2 })
  const starting = service.initialize().catch((error: unknown) => error)
  const early = service.execute(quick)
  await service.shutdown()
  await starting
  assert.equal(typeof (await early).success, 'boolean')
  assert.equal(countWorkers(), 0)
  await Promise.all([service.initialize(), service.initialize()])
  assert.equal(countWorkers(), 2)
})

test('a full queue is refused with the number of queued programs', async () => {
  await using service = new CodeExecutionService({ poolSize: 1, maxQueueSize: 2 })
  const first = heldOpen()
  const running = service.execute(first.params)
  await first.begun
  const waiting = [service.execute(quick), service.execute(quick)]
  assert.deepEqual(await service.execute(quick), {
    success: false,
    error: 'Request queue is full (2 pending requests). Please try again later.',
  })
  first.finish()
  for (const { output } of await Promise.all([running, ...waiting])) assert.equal(output, 1)
})

test('its own queue accepts 102 programs in flight by default, and refuses one more', async () => {
  await using service = new CodeExecutionService()
  await service.initialize()
  const programs = Array.from({ length: 103 }, heldOpen)
  const results = programs.map(({ params }) => service.execute(params))
  assert.match((await results[102])?.error ?? '', /^Request queue is full \(100 pending requests\)/)
  for (const { finish } of programs) finish()
  const successes = (await Promise.all(results)).filter(({ success }) => success)
  assert.equal(successes.length, 102)
})

test('an end refuses queued programs at once, and lets running ones finish', async () => {
  const pool = new WorkerPool({ poolSize: 1 })
  await pool.initialize()
  const first = heldOpen()
  const running = pool.execute(first.params)
  await first.begun
  const waiting = pool.execute(quick)
  let hasEnded = false
  const ending = pool.shutdown().then(() => (hasEnded = true))
  assert.deepEqual(await waiting, { success: false, error: 'Worker pool is shutting down' })
  assert.deepEqual(await pool.execute(quick), { success: false, error: 'Worker pool is shutting down' })
  assert.equal(hasEnded, false)
  first.finish()
  assert.equal((await running).output, 1)
  await ending
  assert.deepEqual(pool.getStats(), none)
})

test('programs that still run are killed five seconds after the end has begun', async () => {
  const { clock, waits } = heldClock(5000)
  const pool = new WorkerPool({ poolSize: 1, engine: { clock } })
  const first = heldOpen()
  const running = pool.execute({ ...first.params, timeoutSeconds: 100 })
  await first.begun
  const before = waits.length
  const ending = pool.shutdown()
  assert.equal(waits.length, before + 1)
  await new Promise(setImmediate)
  assert.equal(countWorkers(), 1)
  waits.at(-1)?.()
  await ending
  const { success, error } = await running
  assert.deepEqual([success, error], [false, 'Worker pool is shutting down'])
  assert.equal(countWorkers(), 0)
})

test('a worker serves one client', async () => {
  const events: SlotEvent[] = []
  await using service = new CodeExecutionService({ poolSize: 1, onEvent: (event) => events.push(event) })
  const starts = () => events.filter(({ to }) => to === 'restarting').length
  for (const client of ['a', 'a', 'b', 'b', 'a'])
    assert.equal((await service.execute({ ...quick, client })).output, 1)
  assert.equal(starts(), 3)
})

test('a program goes to an idle worker rather than to the one that ran the last program', async () => {
  const busy = new Set<number>()
  const onEvent = ({ slot, to }: SlotEvent) => void (to === 'busy' && busy.add(slot))
  await using service = new CodeExecutionService({ poolSize: 2, onEvent })
  await service.initialize()
  busy.clear()
  // No isolate is ready for a program with another memory limit. One delay of the host proves nothing, but twenty do.
  for (let memoryLimitMB = 64; memoryLimitMB < 84; memoryLimitMB++)
    assert.equal((await service.execute({ ...quick, memoryLimitMB })).output, 1)
  assert.deepEqual(
    [...busy].toSorted((left, right) => left - right),
    [1, 2],
  )
})

test('a program may wait for a worker for its timeout and five seconds', async () => {
  const { clock, waits } = heldClock(5100)
  await using service = new CodeExecutionService({ poolSize: 1, engine: { clock } })
  const first = heldOpen()
  const running = service.execute(first.params)
  await first.begun
  const waiting = service.execute({ ...quick, timeoutSeconds: 0.1 })
  await eventually(() => (service.getStats().queueLength === 1 ? undefined : 'it does not wait'), 10_000)
  assert.equal(waits.length, 1)
  waits[0]?.()
  const late: CodeExecutionResult = await waiting
  assert.deepEqual([late.success, late.errorType], [false, 'TIMEOUT'])
  assert.equal(late.error, 'Code execution exceeded timeout of 0.1 seconds')
  first.finish()
  await running
})
