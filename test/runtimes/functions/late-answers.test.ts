/**
 * Calls that the guest does not await, and that the host answers only when the guest has ended: the answer is lost, but nothing
 * that the guest has sent.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import type { HostFunction } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { caller, runtimes } from './calling.ts'

const { run } = await useLazaret()

/** Longer than a guest needs to send its last messages and to exit. */
const busyMs = 500

/** Blocks the host, which reads nothing meanwhile. */
const busy: HostFunction = () => {
  const end = performance.now() + busyMs
  while (performance.now() < end);
}
/** More than a socket holds. */
const large = 'x'.repeat(2_000_000)
const functions = { busy, quick: () => 1, large: () => large }
/** An answer that the guest never reads. */
const unread = {
  javascript: 'quick(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)',
  python: 'quick()\ntime.sleep(0.1)',
}
/** An answer of which the guest reads a part at most. */
const partlyRead = {
  javascript: 'large(); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)',
  python: 'large()\ntime.sleep(0.1)',
}
const python = 'import asyncio, sys, time\nawait asyncio.sleep(0)'

for (const [name, guest] of Object.entries(runtimes)) {
  const call = caller(run, guest)
  for (const [what, before] of Object.entries({
    nothing: { javascript: '', python: '' },
    'an unread answer': unread,
    'a partly read answer': partlyRead,
  })) {
    test(`${name}: the value is kept, after ${what}`, async () => {
      const { value, outcome } = await call(
        { javascript: `${before.javascript}\nbusy(); 5`, python: `${python}\n${before.python}\nbusy()\n5` },
        functions,
      )
      assert.deepEqual([outcome, value], [{ kind: 'completed', exitCode: 0 }, 5])
    })

    test(`${name}: the error and what was shown are kept, after ${what}`, async () => {
      const { outcome, displays, logs } = await call(
        {
          javascript: `${before.javascript}\nbusy(); console.log('shown'); throw new TypeError('wrong')`,
          python: `${python}\n${before.python}\nbusy()\ndisplay('shown')\nraise TypeError('wrong')`,
        },
        functions,
      )
      assert.deepEqual(
        [outcome.kind, outcome.kind === 'failed' && outcome.error.name],
        ['failed', 'TypeError'],
      )
      assert.equal(displays.length + logs.length, 1)
    })
  }

  test(`${name}: the error is kept while the caller takes output slowly`, async () => {
    const { outcome } = await call(
      {
        javascript: `console.log('x'); ${unread.javascript}\nthrow new TypeError('wrong')`,
        python: `${python}\nprint('x', flush=True)\n${unread.python}\nraise TypeError('wrong')`,
      },
      functions,
      { onOutput: () => pause(busyMs) },
    )
    assert.deepEqual([outcome.kind, outcome.kind === 'failed' && outcome.error.name], ['failed', 'TypeError'])
  })
}
