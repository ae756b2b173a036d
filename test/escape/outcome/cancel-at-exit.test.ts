/** Cancelling at the moment when a guest ends: it must never kill another process, hang, or lose the run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { testCancelsAtExit } from '../../support/sizes/cancel-at-exit-tests.ts'
import { shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

await testCancelsAtExit(guests, 400)

test('a run that is cancelled before it starts is cancelled', async () => {
  const { outcome, stdout } = await guests.run({
    ...shell,
    code: 'echo never; sleep 60',
    signal: AbortSignal.abort(),
  })
  assert.deepEqual([outcome, stdout], [{ kind: 'cancelled' }, ''])
})
