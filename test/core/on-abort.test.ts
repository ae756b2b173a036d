import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'

import { onAbort } from '../../src/core/abort.ts'

test('all callbacks of a signal are called once, from one listener', () => {
  const abort = new AbortController()
  const called: string[] = []
  const tell = () => void called.push('twice')
  onAbort(abort.signal, () => called.push('one'))
  const stop = onAbort(abort.signal, () => called.push('never'))
  onAbort(abort.signal, tell)
  onAbort(abort.signal, tell)
  assert.equal(getEventListeners(abort.signal, 'abort').length, 1)
  stop()
  stop()
  abort.abort()
  assert.deepEqual(called, ['one', 'twice', 'twice'])
})

test('without callbacks there is no listener', () => {
  const { signal } = new AbortController()
  for (let times = 0; times < 2; times++) {
    const stops = [1, 2, 3].map(() => onAbort(signal, () => undefined))
    for (const stop of stops) stop()
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  }
})
