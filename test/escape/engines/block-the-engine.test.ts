/** JavaScript that blocks for ever: waits, promises, generators and microtasks that only the wall limit ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { endlessJavascript } from '../../support/hostile/endless-programs.ts'
import { runPatiently } from '../../support/patient-run.ts'
import { bun, node, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

for (const runtime of [bun, node]) {
  for (const [name, code] of Object.entries(endlessJavascript)) {
    test(`${runtime.runtime}: ${name} is timed-out at the deadline`, async () => {
      const request = { ...runtime, code: `console.log('up'); ${code}` }
      const { result, wallMs } = await runPatiently(guests.run, request)
      assert.deepEqual(result.outcome, { kind: 'timed-out', limit: 'wall', limitMs: wallMs })
      assert.equal(result.stdout, 'up\n')
    })
  }
}
