/** What an interrupted run of the tests leaves: processes of tests that could not end them. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'

import { endProcessesWith } from '../../scripts/testing/end-processes.ts'

const variable = 'LAZARET_TESTS_MARK'

function start(mark: string) {
  return spawn('sleep', ['600'], {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, [variable]: mark },
  })
}

test('only the processes of the run are ended, also those in a session of their own', async () => {
  const [own, other] = [randomUUID(), randomUUID()]
  const [left, foreign] = [start(own), start(other)]
  try {
    await Promise.all([once(left, 'spawn'), once(foreign, 'spawn')])
    const ended = once(left, 'exit')
    assert.equal(endProcessesWith(variable, own), 1)
    assert.deepEqual(await ended, [null, 'SIGKILL'])
    assert.equal(foreign.exitCode ?? foreign.signalCode, null)
    assert.equal(endProcessesWith(variable, own), 0)
  } finally {
    foreign.kill('SIGKILL')
    await once(foreign, 'exit')
  }
})
