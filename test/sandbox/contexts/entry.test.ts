/** One piece of code, with the interpreter's messages and their timing simulated by the test, with a fake clock. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import type { Clock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { ContextEntry } from '../../../src/sandbox/contexts/context-entry.ts'
import type { ContextProcess } from '../../../src/sandbox/contexts/context-process.ts'
import type { EntryListener } from '../../../src/sandbox/contexts/entry-listener.ts'

const killed = { report: null, oomKills: 0, exceeded: null } as const

function begin(used: () => unknown = () => ({ cpuMs: 0, memoryPeakBytes: 0 })) {
  const timers = new Set<{ readonly ms: number; readonly callback: () => void }>()
  const clock: Clock = {
    ...systemClock,
    after(ms, callback) {
      const timer = { ms, callback }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
  const asked: string[] = []
  let listener: EntryListener | undefined
  const process = {
    stream: new PassThrough(),
    get used() {
      return used()
    },
    begin(_message: object, _limits: unknown, entry: EntryListener) {
      listener = entry
      return { claims: { logs: [], displays: [] }, truncated: new Set() }
    },
    rest: () => undefined,
    hold: () => undefined,
    kill: () => asked.push('kill'),
    interrupt: () => asked.push('interrupt'),
  } as unknown as ContextProcess
  const limits = { ...defaultLimits, outputBytes: 100 }
  const entry = new ContextEntry({ process, clock, limits, timeoutMs: 5000, functions: {} }, {})
  return {
    entry,
    asked,
    listener: listener as unknown as EntryListener,
    /** Fires the timers that are due after this many milliseconds, and no others. */
    pass(ms: number): void {
      for (const timer of [...timers]) if (timer.ms <= ms && timers.delete(timer)) timer.callback()
    },
  }
}

test('an end that arrived before the grace was over keeps the state, even if it is read later', async () => {
  const { entry, asked, listener, pass } = begin()
  entry.interrupt('wall')
  pass(1000)
  assert.deepEqual(asked, ['interrupt', 'interrupt'])
  listener.onEnd(1)
  pass(1000)
  const { isStateKept, outcome } = await entry.ended
  assert.deepEqual([isStateKept, outcome.kind, asked.includes('kill')], [true, 'timed-out', false])
})

test('an end that is read after the kill does not keep the state', async () => {
  const { entry, asked, listener, pass } = begin()
  entry.interrupt('cancelled')
  pass(1000)
  pass(1000)
  assert.equal(asked.at(-1), 'kill')
  listener.onEnd(0)
  listener.onLost(killed)
  const { isStateKept, outcome, note } = await entry.ended
  assert.deepEqual([isStateKept, outcome.kind], [false, 'cancelled'])
  assert.match(note ?? '', /did not stop when it was interrupted/)
})

test('code ends even if its usage can no longer be read', async () => {
  let reads = 0
  const { entry, listener } = begin(() => {
    if (reads++ > 0) throw new Error('ENOENT')
    return { cpuMs: 5, memoryPeakBytes: 5 }
  })
  listener.onLost(killed)
  const { outcome, usage } = await entry.ended
  assert.deepEqual([outcome.kind, usage.cpuMs, usage.memoryPeakBytes], ['killed', 0, 0])
})
