import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { untilShown } from '../../support/patient-run.ts'
import type { Patient } from '../../support/patient-run.ts'
import type { RunRequest, RunResult } from '../../../src/index.ts'

/** A busy host must not delay a deadline. A busy machine does, by less than this. */
const lateMsMax = 600

/** Blocks this thread, and with it every timer and socket of the host. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** When the host becomes busy: after its first event, or before any. */
const moments: Record<string, (ms: number) => Pick<RunRequest, 'onOutput'>> = {
  'from the first output on': (ms) => ({ onOutput: ({ text }) => text.startsWith('begun') && block(ms) }),
  'from soon after the call on': (ms) => {
    setTimeout(() => block(ms), 25)
    return {}
  },
}

for (const [moment, busy] of Object.entries(moments)) {
  test(`a program that ended in time is completed, though the host is busy ${moment}`, async () => {
    await using lazaret = createLazaret()
    const { seen, deadlineMs } = await untilShown(
      (wallMs) =>
        lazaret.run({
          language: 'shell',
          code: 'echo begun; sleep 0.2; echo done',
          limits: { wallMs },
          ...busy(wallMs + 400),
        }),
      (one) => one.seen.outcome.kind === 'completed',
    )
    assert.deepEqual(seen.outcome, { kind: 'completed', exitCode: 0 })
    assert.equal(seen.stdout, 'begun\ndone\n')
    assert.ok(seen.usage.wallMs < deadlineMs)
  })

  test(`a program is stopped at its wall limit, though the host is busy ${moment}`, async () => {
    await using lazaret = createLazaret()
    const run = (wallMs: number) =>
      lazaret.run({
        language: 'shell',
        code: `echo begun; sleep ${(wallMs + lateMsMax) / 1000}; echo too late; sleep 60`,
        limits: { wallMs },
        ...busy(wallMs + 2 * lateMsMax),
      })
    const isPunctual = ({ seen, deadlineMs }: Patient<RunResult>) =>
      seen.usage.wallMs >= deadlineMs && seen.usage.wallMs < deadlineMs + lateMsMax
    const one = await untilShown(run, (each) => each.seen.stdout !== '' && isPunctual(each))
    const { outcome, stdout, usage } = one.seen
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: one.deadlineMs })
    assert.equal(stdout, 'begun\n')
    assert.ok(isPunctual(one), `${usage.wallMs} ms`)
  })

  test(`a program that used more than its processor time is timed-out, though the host is busy ${moment}`, async () => {
    await using lazaret = createLazaret()
    const { outcome, usage } = await lazaret.run({
      language: 'python',
      code: 'import time\nprint("begun", flush=True)\nwhile time.process_time() < 0.6: pass',
      limits: { cpuMs: 300 },
      ...busy(1500),
    })
    assert.deepEqual(outcome, { kind: 'timed-out', limit: 'cpu', limitMs: 300 })
    assert.ok(usage.cpuMs > 300, `${usage.cpuMs} ms`)
  })
}

test('an observer that throws does not affect the result', async () => {
  await using lazaret = createLazaret({
    onEvent: () => {
      throw new Error('the observer failed')
    },
  })
  const { outcome } = await lazaret.run({ language: 'shell', code: 'exit 3' })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 3 })
})

test('a toolchain that does not answer counts as missing, without other effects', async () => {
  await using lazaret = createLazaret({ toolchains: { bun: '/bin/false' } })
  const { level, toolchains } = await lazaret.probe()
  assert.notEqual(level, 'none')
  const bun = toolchains.find(({ name }) => name === 'bun')
  assert.equal(bun?.state, 'missing')
  assert.match(bun?.fix ?? '', /--version/)
})
