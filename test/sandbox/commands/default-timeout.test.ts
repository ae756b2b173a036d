/** A command without a timeout gets one of two minutes; only `null` removes it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import type { Sandbox } from '../../../src/index.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'

const skip = await whyNoSandboxes()
const minutesMs = 120_000

/** Two minutes pass in a third of a second. */
async function inQuickMinutes(act: (sandbox: Sandbox) => Promise<void>): Promise<void> {
  const clock = {
    ...systemClock,
    after: (ms: number, then: () => void) => systemClock.after(ms === minutesMs ? 300 : ms, then),
  }
  await using lazaret = createLazaret({ clock, onEvent: () => undefined })
  await using sandbox = await lazaret.sandbox()
  await act(sandbox)
}

test('exec() without a timeout ends after two minutes', { skip }, () =>
  inQuickMinutes(async (sandbox) => {
    const { outcome, exitCode, stdout } = await sandbox.exec('echo begun; sleep 600')
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: minutesMs })
    assert.deepEqual({ exitCode, stdout }, { exitCode: 124, stdout: 'begun\n' })
  }),
)

test('null removes it, and a background process has none', { skip }, () =>
  inQuickMinutes(async (sandbox) => {
    const patient = sandbox.exec('sleep 0.8; echo done', { timeout: null })
    const background = await sandbox.startProcess('sleep 0.8')
    assert.equal((await patient).stdout, 'done\n')
    const { exitCode } = await background.waitForExit()
    assert.equal(exitCode, 0)
  }),
)
