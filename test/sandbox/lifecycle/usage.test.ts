/** The usage of a command: its own, and that of the processes that it waited for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { createLazaret } from '../../support/create-lazaret.ts'

const skip = await whyNoSandboxes()

test('a result says how much time, memory and output a command took', { skip }, async () => {
  await using lazaret = createLazaret()
  await using sandbox = await lazaret.sandbox()
  const idle = await sandbox.exec('sleep 0.3; printf éa')
  assert.equal(idle.usage.outputBytes, 3)
  assert.equal(idle.usage.wallMs, idle.duration)
  assert.ok(idle.usage.wallMs >= 300 && idle.usage.cpuMs < 300, JSON.stringify(idle.usage))
  // Work instead of time: on a busy machine, processors are not there all the time.
  const busy = await sandbox.exec(`bash -c 'for ((i = 0; i < 200000; i++)); do :; done'; true`)
  assert.ok(busy.usage.cpuMs >= 50, `a child's ${busy.usage.cpuMs} ms`)
  const large = await sandbox.exec(`head -c 60000000 /dev/zero | tail -c 50000000 | tail -c 40000000 | wc -c`)
  assert.equal(large.stdout.trim(), '40000000')
  assert.ok(large.usage.memoryPeakBytes > 35_000_000, `${large.usage.memoryPeakBytes}`)
  assert.deepEqual(JSON.parse(JSON.stringify(large)), { ...large })
})
