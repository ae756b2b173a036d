/** Host functions called with no stack left: an incomplete message must not corrupt the next one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const javascript = `
  let refused = 0, calls = 0
  const dive = (depth) => {
    try { dive(depth + 1) } catch { refused++ }
    if (calls < 300) { calls++; try { note({ depth, text: 'whole' }).catch(() => {}) } catch {} }
  }
  dive(0)
  const answer = await note({ depth: -1, text: 'whole' })
  console.log(refused > 0, answer)`
const attacks: Record<string, RunRequest> = {
  bun: { ...bun, code: javascript },
  node: { ...node, code: javascript },
  python: {
    ...python,
    code: `
import sys
calls = 0
refused = False
def dive(depth):
    global calls, refused
    try: dive(depth + 1)
    except RecursionError: refused = True
    if calls < 300:
        calls += 1
        try: note({'depth': depth, 'text': 'whole'})
        except (RecursionError, ValueError): refused = True # too deep for the stack, or for whoever encodes it
dive(0)
print('true' if refused else 'false', note({'depth': -1, 'text': 'whole'}))`,
  },
}

for (const [name, request] of Object.entries(attacks)) {
  test(`${name}: calls without stack left arrive completely or not at all, and the next one is answered`, async () => {
    const seen: unknown[] = []
    const note = (argument: unknown) => {
      seen.push(argument)
      return 'noted'
    }
    const { outcome, stdout, stderr } = await guests.run({
      ...request,
      functions: { note },
      limits: { wallMs: ampleMs },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.equal(stdout, 'true noted\n')
    for (const one of seen) {
      const { depth, text } = one as { depth: unknown; text: unknown }
      assert.ok(Number.isInteger(depth) && text === 'whole', JSON.stringify(one))
    }
    assert.deepEqual(seen.at(-1), { depth: -1, text: 'whole' })
  })
}
