/** The layers of a policy together: their order, and that a refusal by one leaves no trace in earlier ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { LazaretError } from '../../src/core/errors/errors.ts'
import type { WorkEnd } from '../../src/core/work-end.ts'
import type { Work } from '../../src/core/work.ts'
import { policyOf } from '../../src/policy/admit.ts'
import type { PolicyOptions, Ticket } from '../../src/policy/admit.ts'
import { createBreakers } from '../../src/policy/breaking.ts'
import { RateLimiter } from '../../src/policy/rate-limiter.ts'
import { Room } from '../../src/policy/room.ts'
import { FakeClock } from '../pool/fake-worker.ts'

const calm = new AbortController().signal
const runOf = (client = 'ada', runtime = 'bun', network = 'none') =>
  ({
    ...{ kind: 'run', id: 'x', client, runtime, limits: { memoryBytes: 1 } },
    spec: { code: '', language: 'javascript', network },
  }) as unknown as Work

function layersOf(options: PolicyOptions = {}) {
  const clock = new FakeClock()
  const size = { runningMax: 1, memoryTotalBytes: 10, waitingMax: 0, waitMs: 1000 }
  const policy = policyOf({
    breakers: createBreakers({}, clock),
    rate: new RateLimiter({ clock, perMinute: 10 }),
    room: new Room({ ...size, clock }),
    ...options,
  })
  const admit = (work: Work) => policy.admit(work, calm)
  const refusalOf = async (work: Work) =>
    await admit(work).then(
      () => 'admitted',
      (error: LazaretError) => error.code,
    )
  const end = async (ticket: Ticket, outcome: WorkEnd['outcome']) => {
    ticket.ended?.({ outcome })
    await ticket[Symbol.asyncDispose]()
  }
  const perform = async (work: Work, outcome: WorkEnd['outcome'], times = 1) => {
    for (let time = 0; time < times; time++) await end(await admit(work), outcome)
  }
  return { clock, admit, refusalOf, perform, end }
}

test('breaker, rate, queue: if all would refuse, the first one does', async () => {
  const asked: string[] = []
  const layers = layersOf({ admit: ({ client = '' }) => void asked.push(client) })
  const ticket = await layers.admit(runOf('bob'))
  assert.equal(await layers.refusalOf(runOf()), 'QUEUE_FULL')
  await layers.end(ticket, 'completed')
  await layers.perform(runOf(), 'completed', 2)
  await layers.perform(runOf(), 'timed-out', 8)
  assert.equal(await layers.refusalOf(runOf('ada', 'bun', 'host')), 'ACCESS_DENIED')
  const other = await layers.admit(runOf('bob'))
  assert.equal(await layers.refusalOf(runOf()), 'CIRCUIT_OPEN')
  layers.clock.advance(30_000)
  assert.equal(await layers.refusalOf(runOf()), 'RATE_LIMITED')
  layers.clock.advance(30_000)
  assert.equal(await layers.refusalOf(runOf()), 'QUEUE_FULL')
  await layers.end(other, 'completed')
  assert.equal(asked.length, 16)
})

test('work that the queue refuses does not count for the rate, and uses no trial of a breaker', async () => {
  const layers = layersOf()
  const ticket = await layers.admit(runOf('bob'))
  for (let times = 0; times < 50; times++) assert.equal(await layers.refusalOf(runOf()), 'QUEUE_FULL')
  await layers.end(ticket, 'completed')
  await layers.perform(runOf(), 'timed-out', 10)
  layers.clock.advance(60_000)
  const other = await layers.admit(runOf('bob'))
  for (let times = 0; times < 3; times++) assert.equal(await layers.refusalOf(runOf()), 'QUEUE_FULL')
  await layers.end(other, 'completed')
  await layers.perform(runOf(), 'completed')
  assert.equal(await layers.refusalOf(runOf()), 'admitted')
})

test('faults of Lazaret count against the runtime, timeouts and memory exhaustion against the client', async () => {
  const layers = layersOf({ rate: undefined })
  await layers.perform(runOf('ada', 'python'), 'fault', 10)
  assert.equal(await layers.refusalOf(runOf('bob', 'python')), 'CIRCUIT_OPEN')
  await layers.perform(runOf('ada'), 'completed')
  await layers.perform(runOf('eve'), 'timed-out', 5)
  await layers.perform(runOf('eve'), 'out-of-memory', 5)
  assert.equal(await layers.refusalOf(runOf('eve')), 'CIRCUIT_OPEN')
  await layers.perform(runOf('bob'), 'completed')
})

test('cancelled and refused work and a guest’s own errors do not count', async () => {
  const layers = layersOf({ rate: undefined })
  for (const outcome of ['cancelled', 'refused', 'failed', 'killed', 'syntax-error'] as const)
    await layers.perform(runOf(), outcome, 20)
  assert.equal(await layers.refusalOf(runOf()), 'admitted')
})

test('operations on files, sandboxes and warm-ups are not executions', async () => {
  const layers = layersOf({
    room: undefined,
    rate: new RateLimiter({ clock: new FakeClock(), perMinute: 1 }),
  })
  const files = {
    kind: 'files',
    id: 'x',
    client: 'ada',
    sandbox: 's',
    operation: 'read',
    path: '/a',
  } as const
  for (let times = 0; times < 5; times++) assert.equal(await layers.refusalOf(files), 'admitted')
  assert.equal(await layers.refusalOf(runOf()), 'admitted')
  assert.equal(await layers.refusalOf(runOf()), 'RATE_LIMITED')
  const command = {
    kind: 'command',
    id: 'x',
    client: 'ada',
    sandbox: 's',
    command: ':',
    credentials: [],
  } as const
  assert.equal(await layers.refusalOf(command), 'RATE_LIMITED')
})
