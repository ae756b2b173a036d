/** Counts of programs' outcomes, and alerts about clients that repeatedly exceed their limits. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import type { WorkOutcome } from '../../src/core/work.ts'
import { createLazaret } from '../support/create-lazaret.ts'
import type { LazaretEvent } from '../../src/index.ts'
import { ExecutionMonitor } from '../../src/observe/index.ts'
import type { MonitorAlert } from '../../src/observe/index.ts'
import { FakeClock } from '../pool/fake-worker.ts'

function listen() {
  const clock = new FakeClock()
  const alerts: MonitorAlert[] = []
  const monitor = new ExecutionMonitor({ clock, onAlert: (alert) => alerts.push(alert) })
  const end = (outcome: WorkOutcome, more: { client?: string; exitCode?: number; kind?: 'files' } = {}) => {
    const event = { type: 'work-ended', kind: 'run', id: 'one', outcome, wallMs: 10, ...more } as const
    monitor.hear(event satisfies LazaretEvent)
  }
  return { monitor, clock, alerts, end }
}

test('every program is counted by its outcome', () => {
  const { monitor, end } = listen()
  assert.deepEqual(monitor.snapshot().meanDurationMs, 0)
  end('completed', { exitCode: 0 })
  end('completed', { exitCode: 1 })
  end('failed', { exitCode: 1 })
  end('timed-out')
  end('out-of-memory')
  end('cancelled')
  end('refused')
  end('done', { kind: 'files' })
  monitor.hear({ type: 'pool-failing' })
  assert.deepEqual(monitor.snapshot(), {
    total: 6,
    timeouts: 1,
    errors: 4,
    memoryDeaths: 1,
    refused: 1,
    meanDurationMs: 10,
  })
})

test('the fourth violation of a client within a minute is an alert, and then the count starts over', () => {
  const { clock, alerts, end } = listen()
  const exceed = (outcome: WorkOutcome, client = 'ada') => {
    end(outcome, { client })
    clock.advance(10_000)
  }
  for (const outcome of ['timed-out', 'out-of-memory', 'limit-exceeded'] as const) exceed(outcome)
  assert.deepEqual(alerts, [])
  exceed('denied')
  assert.deepEqual(alerts, [
    { client: 'ada', outcomes: ['timed-out', 'out-of-memory', 'limit-exceeded', 'denied'], withinMs: 30_000 },
  ])
  for (let again = 0; again < 3; again++) exceed('timed-out')
  assert.equal(alerts.length, 1)
  exceed('timed-out')
  assert.equal(alerts.length, 2)
})

test('violations that are a minute apart, or of other clients, cause no alert', () => {
  const { clock, alerts, end } = listen()
  for (let index = 0; index < 20; index++) {
    end('timed-out', { client: 'slow' })
    end('timed-out', { client: `client-${index}` })
    end('completed', { client: 'failing', exitCode: 1 })
    clock.advance(20_000)
  }
  assert.deepEqual(alerts, [])
})

test('the number of remembered clients is bounded, and the least active one is forgotten first', () => {
  const { alerts, end } = listen()
  for (let times = 0; times < 3; times++) end('timed-out', { client: 'first' })
  for (let index = 0; index < 10_000; index++) end('timed-out', { client: `client-${index}` })
  end('timed-out', { client: 'first' })
  assert.deepEqual(alerts, [])
})

test('a Lazaret reports a timeout with the hash of the code', async () => {
  const events: LazaretEvent[] = []
  const monitor = new ExecutionMonitor()
  const onEvent = (event: LazaretEvent) => {
    monitor.hear(event)
    events.push(event)
  }
  await using lazaret = createLazaret({ onEvent })
  const code = 'while :; do :; done'
  const { id } = await lazaret.run({ language: 'shell', code, client: 'ada', limits: { wallMs: 100 } })
  await lazaret.run({ language: 'shell', code: 'exit 2' })
  const timedOut = events.find(({ type }) => type === 'timed-out')
  assert.ok(timedOut?.type === 'timed-out')
  const { durationMs, ...others } = timedOut
  const codeHash = createHash('sha256').update(code).digest('hex')
  assert.deepEqual(others, { type: 'timed-out', kind: 'run', id, client: 'ada', codeHash })
  assert.ok(durationMs >= 100)
  const { total, timeouts, errors } = monitor.snapshot()
  assert.deepEqual({ total, timeouts, errors }, { total: 2, timeouts: 1, errors: 2 })
})
