/** A run with the smallest number of processes: a parked worker serves it at once, and it cannot fork. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret, heldByCgroup } = await useLazaret({ pools: { python: { max: 2 } } })
const code =
  'import os\ntry:\n  os.fork()\n  answer = "forked"\nexcept OSError:\n  answer = "refused"\nanswer'
const why = heldByCgroup ? false : 'nothing but a cgroup counts the processes of one run here'

test(
  'a run with a limit of one process begins in a parked worker, and cannot fork',
  { skip: why },
  async () => {
    await lazaret.warmUp({ language: 'python' })
    const { receipt, value } = await lazaret.run({ language: 'python', code, limits: { processesMax: 1 } })
    assert.notEqual(receipt.start, 'cold')
    assert.equal(value, 'refused')
  },
)

test('a second process is refused or ends the run, and the last allowed one continues', async () => {
  const lasting = `import os, time
if os.fork() == 0:
  time.sleep(30)
  os._exit(0)
time.sleep(0.5)
'forked'`
  for (const [processesMax, isAllowed] of [
    [1, false],
    [2, true],
  ] as const) {
    await lazaret.warmUp({ language: 'python' })
    const { value, outcome, receipt } = await lazaret.run({
      language: 'python',
      code: lasting,
      limits: { processesMax },
    })
    assert.notEqual(receipt.start, 'cold')
    assert.equal(value === 'forked', isAllowed, `${processesMax}, ${outcome.kind}`)
  }
})

test('a refused fork of pid 1 itself does not count as a guest’s', async () => {
  const busy =
    'import time\nuntil = time.process_time() + 0.5\nwhile time.process_time() < until: pass\n1 / 0'
  const { outcome } = await lazaret.run({ language: 'python', code: busy, limits: { processesMax: 1 } })
  assert.equal(outcome.kind, 'failed')
})
