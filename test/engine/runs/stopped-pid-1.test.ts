/** The pid 1 of a cell enforces the wall limit. Should it fail to, as when somebody stops it, the host does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { listDescendants } from '../../support/machine/processes.ts'
import type { HostProcess } from '../../support/machine/processes.ts'
import { untilShown } from '../../support/patient-run.ts'

test('a run whose pid 1 was stopped ends at its wall limit, and leaves nothing', async () => {
  await using lazaret = createLazaret({ onEvent: () => undefined, pools: { shell: { max: 0 } } })
  let stopped = 0
  const onOutput = () => {
    const processes = listDescendants(process.pid)
    const parentOf = (child: HostProcess | undefined) => processes.find(({ pid }) => pid === child?.parent)
    const pid1 = parentOf(parentOf(processes.find(({ name }) => name === 'sleep')))
    if (pid1 === undefined) return
    process.kill(pid1.pid, 'SIGSTOP')
    stopped++
  }
  const code = 'sleep 1000 & until grep -qs sleep /proc/$!/comm; do :; done; echo up; wait'
  const { seen, deadlineMs } = await untilShown(
    (wallMs) => {
      // Otherwise a run without an end would be one here, too.
      const signal = AbortSignal.timeout(wallMs + 30_000)
      return lazaret.run({ language: 'shell', code, limits: { wallMs }, onOutput, signal })
    },
    () => stopped > 0,
  )
  assert.equal(stopped, 1)
  assert.deepEqual(seen.outcome, { kind: 'timed-out', limit: 'wall', limitMs: deadlineMs })
  await lazaret[Symbol.asyncDispose]()
  assert.deepEqual(listDescendants(process.pid), [])
})
