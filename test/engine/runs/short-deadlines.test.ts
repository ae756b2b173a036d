/**
 * Deadlines that pass while the guest is still being confined: it must be dead, and never run without a layer of its
 * wall.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { bun, python, shell, useLazaret } from '../../support/use-lazaret.ts'

const { lazaret } = await useLazaret()

for (const [name, request] of Object.entries({ shell, python, bun }))
  test(`a deadline of a millisecond ends ${name} with a result, whatever has started by then`, async () => {
    for (let round = 0; round < 20; round++) {
      const { outcome } = await lazaret.run({ ...request, code: '', limits: { wallMs: 1 } })
      assert.match(outcome.kind, /^(timed-out|completed)$/)
    }
  })
