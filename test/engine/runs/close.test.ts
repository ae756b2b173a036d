/** An orderly close: work that has begun may finish, new work is refused, and nothing is left. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import type { CloseOptions, Lazaret } from '../../../src/index.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

const open = () => createLazaret({ onEvent: () => undefined })
/** `began` resolves when the work has printed something, so that it has begun before the Lazaret is closed. */
function untilOutput(): { began: Promise<void>; onOutput: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { began: promise, onOutput: () => resolve() }
}

async function refuses(enter: () => Promise<unknown>): Promise<void> {
  await assert.rejects(enter(), { code: 'DISPOSED', kind: 'refusal' })
}

test('runs and commands in flight end, new ones are refused, and nothing is left', async () => {
  const leaks = new LeakCheck()
  await leaks.takeBaseline()
  const lazaret = open()
  const sandbox = await lazaret.sandbox()
  const { began, onOutput } = untilOutput()
  const run = lazaret.run({ language: 'shell', code: 'echo a; sleep 0.5; echo b', onOutput })
  const command = sandbox.exec('sleep 0.5; echo c')
  await began
  const closed = lazaret.close({ graceMs: 60_000 })
  await refuses(() => lazaret.run({ language: 'shell', code: ':' }))
  await refuses(() => lazaret.sandbox())
  await refuses(() => sandbox.exec('true'))
  assert.equal((await run).stdout, 'a\nb\n')
  assert.equal((await command).stdout, 'c\n')
  await closed
  await leaks.checkDisposed()
})

test('work that has not ended in time is cancelled', async () => {
  const lazaret = open()
  const { began, onOutput } = untilOutput()
  const run = lazaret.run({ language: 'shell', code: 'echo a; sleep 600', onOutput })
  await began
  await lazaret.close({ graceMs: 50 })
  const { outcome, stdout } = await run
  assert.deepEqual({ outcome, stdout }, { outcome: { kind: 'cancelled' }, stdout: 'a\n' })
})

test('an idle Lazaret closes at once, and again', async () => {
  const lazaret = open()
  await lazaret.run({ language: 'shell', code: ':' })
  const watch = startCalmWatch()
  await Promise.all([lazaret.close(), lazaret.close()])
  await lazaret.close()
  await lazaret[Symbol.asyncDispose]()
  assert.ok(watch() < 8000, 'shorter than the grace')
})

test('a later end with a shorter grace takes precedence', async () => {
  const lazaret = open()
  const { began, onOutput } = untilOutput()
  const run = lazaret.run({ language: 'shell', code: 'echo a; sleep 600', onOutput })
  await began
  const patient = lazaret.close({ graceMs: 600_000 })
  await lazaret.close({ graceMs: 0 })
  await patient
  assert.equal((await run).outcome.kind, 'cancelled')
})

test('an invalid grace is refused, and nothing is closed', async () => {
  await using lazaret: Lazaret = open()
  const wrong: unknown[] = [
    { graceMs: -1 },
    { graceMs: 1.5 },
    { graceMs: '1' },
    { graceMs: 2 ** 31 },
    { grace: 1 },
    5,
  ]
  for (const options of wrong)
    await assert.rejects(lazaret.close(options as CloseOptions), { code: 'INVALID_REQUEST' })
  assert.equal((await lazaret.run({ language: 'shell', code: ':' })).ok, true)
})
