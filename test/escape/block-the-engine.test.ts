/** JavaScript that never goes on: waits, promises, generators and microtasks that nothing ends but the wall limit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { endlessJavascript } from '../support/endless-programs.ts'
import { bun, node, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { wallMs: 500 }

for (const runtime of [bun, node]) {
  for (const [name, code] of Object.entries(endlessJavascript)) {
    test(`${runtime.runtime}: ${name} is timed-out at the deadline`, async () => {
      const { outcome } = await guests.run({ ...runtime, code: `console.log('up'); ${code}`, limits })
      assert.deepEqual(outcome, { kind: 'timed-out', limit: 'wall', limitMs: 500 })
    })
  }
}
