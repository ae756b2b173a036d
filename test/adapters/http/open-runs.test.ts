/** Calls of the caller's functions end with their answer or with their run, however slowly the caller reads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenRun } from '../../../src/adapters/http/open-runs.ts'

const never = (): Promise<void> => new Promise(() => undefined)

function callOf(run: OpenRun, send: () => Promise<void>, signal: AbortSignal): Promise<unknown> {
  const { ask } = run.functions(['ask'], send)
  assert.ok(ask !== undefined)
  return Promise.resolve(ask.call({ signal }))
}

test('a call whose run ends while its event waits for a slow reader ends at once', async () => {
  const ended = new AbortController()
  const call = callOf(new OpenRun(() => undefined), never, ended.signal)
  ended.abort()
  await assert.rejects(call, /has ended/)
})

test('an answer ends its call while the event of the call still waits for a slow reader', async () => {
  const run = new OpenRun(() => undefined)
  const call = callOf(run, never, new AbortController().signal)
  run.answer('1', { error: new Error('no') })
  await assert.rejects(call, /no/)
})

test('a call that cannot be sent fails', async () => {
  const failing = (): Promise<void> => Promise.reject(new Error('broken'))
  await assert.rejects(callOf(new OpenRun(() => undefined), failing, new AbortController().signal), /broken/)
})
