/** Code that does not react to interrupts, because it computes in native code. With the real clock. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { describeContexts, interruptAtOutput, valueOf } from './use-contexts.ts'

const deaf = {
  python: { set: 'x = 1', code: 'print("ready")\nsum(range(10**10))' },
  javascript: {
    set: 'let x = 1',
    code: 'const { pbkdf2Sync } = require("node:crypto"); console.log("ready"); pbkdf2Sync("a", "b", 1e9, 64, "sha512")',
  },
} as const

await describeContexts(
  (sandbox) => {
    for (const language of ['python', 'javascript'] as const)
      test(`${language}: code that ignores the interrupt in C is ended within a second, and the result reports the lost state`, async () => {
        const { set, code } = deaf[language]
        const context = await sandbox.createCodeContext({ language })
        const times: number[] = []
        // A busy machine may delay an answer, or interrupt code before it computes in C.
        for (let attempt = 0; attempt < 5 && !times.some((ms) => ms < 1000); attempt++) {
          await valueOf(context.runCode(set))
          const { result, ms } = await interruptAtOutput(context, code, 200)
          if (result.isStateKept) continue
          times.push(ms)
          assert.deepEqual([result.outcome, result.isStateKept], [{ kind: 'cancelled' }, false])
          assert.match(result.note ?? '', /did not stop when it was interrupted.*fresh context/)
          assert.match(result.toText(), /\n\nThe code did not stop when it was interrupted.*fresh context/)
          assert.equal((await context.runCode('x')).outcome.kind, 'failed')
        }
        assert.ok(Math.min(...times) < 1000, times.join(', '))
        await sandbox.deleteCodeContext(context.id)
      })
  },
  { lazaret: { clock: systemClock } },
)
