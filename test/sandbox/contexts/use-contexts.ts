/** A sandbox for tests of code contexts. Without namespaces there are none, and the tests check the refusal instead. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { systemClock } from '../../../src/core/clock.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { CodeContext, CodeResult, LazaretOptions, Sandbox, SandboxOptions } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

/** Slows the clock, so that interrupted code has enough time to end on a busy machine. */
const patientClock: Clock = {
  ...systemClock,
  after: (ms, callback) => systemClock.after(ms >= 300 && ms < 1000 ? ms * 8 : ms, callback),
}

export interface ContextsUse {
  readonly sandbox?: SandboxOptions
  readonly lazaret?: LazaretOptions
}

/** Call once, at the top of a test file. `define` is called if there are contexts. */
export async function describeContexts(
  define: (sandbox: Sandbox) => void | Promise<void>,
  options: ContextsUse = {},
): Promise<void> {
  const leaks = new LeakCheck()
  await leaks.takeBaseline()
  const lazaret = createLazaret({ onEvent: () => undefined, clock: patientClock, ...options.lazaret })
  const sandbox = await lazaret.sandbox(options.sandbox)
  after(async () => {
    await lazaret[Symbol.asyncDispose]()
    await leaks.checkDisposed()
  })
  const { isolation } = await sandbox.exec(':')
  if (isolation.level !== 'restricted') return define(sandbox)
  test('without namespaces code contexts are refused', async () => {
    await assert.rejects(sandbox.createCodeContext(), { code: 'JAIL_UNAVAILABLE' })
    await assert.rejects(sandbox.runCode('1'), { code: 'JAIL_UNAVAILABLE' })
    assert.deepEqual(sandbox.listCodeContexts(), [])
  })
  return undefined
}

/** The value of code that must succeed. */
export async function valueOf(asked: Promise<CodeResult>): Promise<unknown> {
  const { outcome, value, stderr } = await asked
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  return value
}

export interface Interrupted {
  readonly result: CodeResult
  /** From the interruption to the answer, on a calm machine. */
  readonly ms: number
}

/** Its code is interrupted when it prints, or `afterMs` later. */
export async function interruptAtOutput(
  context: CodeContext,
  code: string,
  afterMs = 0,
): Promise<Interrupted> {
  let watch = startCalmWatch()
  const onStdout = async () => {
    if (afterMs > 0) await sleep(afterMs)
    watch = startCalmWatch()
    await context.interrupt()
  }
  const result = await context.runCode(code, { onStdout, timeout: null })
  return { result, ms: watch() }
}
