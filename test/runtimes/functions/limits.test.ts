/** Limits on calls of host functions, and calls at the end of a run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ampleMs, runPatiently } from '../../support/patient-run.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { assertCompleted, caller, codeFor, echo, runtimes } from './calling.ts'

const { run } = await useLazaret()

for (const [name, guest] of Object.entries(runtimes)) {
  const call = caller(run, guest)

  test(`${name}: arguments and values above their limits are errors, and the program continues`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `const seen = []
          for (const attempt of [() => echo('x'.repeat(3000)), () => large(), () => echo('small')]) {
            seen.push(await attempt().catch((error) => error.name))
          }
          seen`,
        python: `seen = []
for attempt in (lambda: echo('x' * 3000), large, lambda: echo('small')):
    try:
        seen.append(attempt())
    except ValueError:
        seen.append('RangeError')
    except HostFunctionError as error:
        seen.append(error.name)
seen`,
      },
      { echo, large: () => 'y'.repeat(3000) },
      { limits: { resultBytes: 2000, inputBytes: 2000 } },
    )
    assert.deepEqual(value, ['RangeError', 'RangeError', 'small'], stderr)
  })

  test(`${name}: arguments and values of many megabytes are transferred`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `const sent = 'x'.repeat(9_000_000); const got = await Promise.all([echo(sent), echo(sent), echo(sent)]); got.every((each) => each === sent)`,
        python: `import asyncio\nsent = 'x' * 9_000_000\nall(each == sent for each in await asyncio.gather(*[echo(sent) for _ in range(3)]))`,
      },
      { echo },
      { limits: { wallMs: ampleMs, hostMs: ampleMs } },
    )
    assert.equal(value, true, stderr)
  })

  test(`${name}: the number of calls is limited, by an error that can be caught`, async () => {
    let calls = 0
    const { value, receipt, stderr } = await call(
      {
        javascript: `const seen = []; for (let count = 0; count < 5; count++) seen.push(await tick().catch((error) => error.name)); seen`,
        python: `seen = []
for count in range(5):
    try:
        seen.append(tick())
    except HostFunctionError as error:
        seen.append(error.name)
seen`,
      },
      { tick: () => ++calls },
      { limits: { functionCallsMax: 3 } },
    )
    assert.deepEqual(value, [1, 2, 3, 'FunctionLimitError', 'FunctionLimitError'], stderr)
    assert.equal(calls, 3)
    assert.deepEqual(receipt.limits.functionCallsMax, { value: 3, by: 'host' })
    assert.deepEqual(receipt.limits.functionMs, { value: null, by: 'none' })
  })

  test(`${name}: a call that takes too long is an error in the guest and an aborted signal on the host`, async () => {
    const aborted = Promise.withResolvers<unknown>()
    const { value, receipt, stderr } = await call(
      {
        javascript: `await wait().catch((error) => [error.name, error.message])`,
        python: `try:\n    wait()\nexcept HostFunctionError as error:\n    seen = [error.name, error.message]\nseen`,
      },
      {
        wait() {
          this.signal.addEventListener('abort', () => aborted.resolve((this.signal.reason as Error).name))
          return new Promise(() => undefined)
        },
      },
      { limits: { functionMs: 20 } },
    )
    assert.deepEqual(value, ['TimeoutError', "'wait' took longer than 20 ms (functionMs)."], stderr)
    assert.equal(await aborted.promise, 'TimeoutError')
    assert.deepEqual(receipt.limits.functionMs, { value: 20, by: 'host' })
  })

  test(`${name}: the signal aborts when the run has ended, also for a call that was answered`, async () => {
    let signal: AbortSignal | undefined
    const result = await call(
      { javascript: 'await note()', python: 'note()' },
      {
        note() {
          signal = this.signal
          return signal.aborted
        },
      },
    )
    assert.equal(result.value, false, result.stderr)
    assert.ok(signal !== undefined && signal.aborted)
    assert.equal((signal.reason as Error).name, 'AbortError')
  })

  test(`${name}: a function that never answers does not delay the deadline`, async () => {
    const programs = {
      javascript: `console.log('calling'); await never()`,
      python: `print('calling')\nnever()`,
    }
    const functions = { never: () => new Promise(() => undefined) }
    const { result, wallMs } = await runPatiently(run, {
      ...guest,
      code: codeFor(guest, programs),
      functions,
    })
    assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
    assert.equal(result.stdout, 'calling\n')
  })

  test(`${name}: a function may cancel its own run`, async () => {
    const controller = new AbortController()
    let isAborted = false
    const { outcome } = await call(
      { javascript: 'await cancel(); console.log(1)', python: 'cancel()\nprint(1)' },
      {
        cancel() {
          controller.abort()
          isAborted = this.signal.aborted
          throw new Error('nobody hears this')
        },
      },
      { signal: controller.signal },
    )
    assert.deepEqual(outcome, { kind: 'cancelled' })
    assert.equal(isAborted, true)
  })

  test(`${name}: a program that exits during a call ends at once, with its own code`, async () => {
    const asked = Promise.withResolvers<void>()
    const { outcome } = await call(
      {
        javascript: 'void never(); process.exit(3)',
        python: `import asyncio, sys
async def main():
    never()
    sys.exit(3)
asyncio.run(main())`,
      },
      {
        never: () => {
          asked.resolve()
          return new Promise(() => undefined)
        },
      },
    )
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 3 })
  })

  test(`${name}: only the names of the request exist`, async () => {
    const { value, stderr } = await call(
      {
        javascript: `[typeof known, typeof unknown, typeof HostFunctionError]`,
        python: `[type(known).__name__, 'unknown' in globals(), issubclass(HostFunctionError, RuntimeError)]`,
      },
      { known: echo },
    )
    const expected =
      guest.language === 'python' ? ['function', false, true] : ['function', 'undefined', 'undefined']
    assert.deepEqual(value, expected, stderr)
  })

  test(`${name}: the value arrives when calls were made while the program ended`, async () => {
    let late = 0
    const result = await call(
      {
        javascript: `process.on('exit', () => { void note('exit') }); await note('body'); 'done'`,
        python: `import atexit\natexit.register(note, 'exit')\nnote('body')\n'done'`,
      },
      { note: () => ++late },
    )
    assertCompleted(result)
    assert.equal(result.value, 'done')
    assert.ok(late >= 1)
  })
}
