/** The events that an operator gets about work: its start, end and usage, and refusals. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { Lazaret, LazaretEvent, LazaretOptions } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'

const skip = await whyNoSandboxes()

const listen = (events: LazaretEvent[], options: LazaretOptions = {}): Lazaret =>
  createLazaret({ ...options, onEvent: (event) => events.push(event) })

/** Omits what depends on the machine and on tests that were killed on it earlier. */
const summarize = (events: readonly LazaretEvent[]) =>
  events.filter(({ type }) => type !== 'protection-lowered' && type !== 'leftovers-removed')

test('a run starts and ends, with its client, its outcome and its usage', async () => {
  const events: LazaretEvent[] = []
  await using lazaret = listen(events, { ceilings: { wallMs: 300 } })
  const { id, usage } = await lazaret.run({
    language: 'shell',
    code: 'sleep 60',
    client: 'ada',
    limits: { wallMs: 5000 },
  })
  const [started, ended, late] = summarize(events)
  const of = { kind: 'run', id, client: 'ada', language: 'shell', runtime: 'shell' } as const
  assert.deepEqual(started, { type: 'work-started', ...of, queuedMs: 0 })
  assert.deepEqual(ended, {
    ...{ type: 'work-ended', ...of, outcome: 'timed-out', limit: 'wall', start: 'cold' },
    ...{ wallMs: usage.wallMs, queuedMs: usage.queuedMs, cpuMs: usage.cpuMs },
    ...{ memoryPeakBytes: usage.memoryPeakBytes, clamped: ['wallMs'] },
  })
  assert.equal(late?.type, 'timed-out')
})

test('refused work has no start event', async () => {
  const events: LazaretEvent[] = []
  await using lazaret = listen(events, { admit: () => false })
  await assert.rejects(lazaret.run({ language: 'shell', code: ':', client: 'eve' }), { code: 'NOT_ADMITTED' })
  const [event, ...others] = summarize(events)
  assert.deepEqual(others, [])
  assert.ok(event?.type === 'work-ended')
  const { outcome, code, client } = event
  assert.deepEqual({ outcome, code, client }, { outcome: 'refused', code: 'NOT_ADMITTED', client: 'eve' })
})

test('the work of a sandbox names it, and so does its end', { skip }, async () => {
  const events: LazaretEvent[] = []
  await using lazaret = listen(events)
  const sandbox = await lazaret.sandbox({ id: 'box', client: 'ada' })
  await sandbox.exec('exit 3')
  await sandbox.writeFile('a', 'b')
  await sandbox.destroy()
  const short = summarize(events).map((event) => {
    const of = 'kind' in event ? event.kind : event.type
    const where = 'sandbox' in event ? ` in ${event.sandbox}` : ''
    if (event.type === 'work-ended') return `${of}${where} ${event.outcome} ${event.exitCode ?? ''}`.trim()
    return event.type === 'work-started' ? `${of}${where} starts` : of
  })
  assert.deepEqual(short, [
    'sandbox starts',
    'sandbox done',
    'command in box starts',
    'command in box completed 3',
    'files in box starts',
    'files in box done',
    'sandbox-ended',
  ])
  assert.deepEqual(summarize(events).at(-1), { type: 'sandbox-ended', id: 'box', client: 'ada' })
})
