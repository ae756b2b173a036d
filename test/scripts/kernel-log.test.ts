import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isAboutTheKernel } from '../../scripts/option-fuzzing/readings.ts'

test('the fuzzer of options reports faults of the kernel, not those of processes', () => {
  const process =
    'traps: guest[17432] general protection fault ip:7f1f5cbdc829 sp:7ffd9f792ba8 error:0 in libc.so.6'
  const kernel = [
    'Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP',
    'WARNING: CPU: 1 PID: 17 at fs/locks.c:1 locks_free_lock+0x1/0x2',
    'INFO: task guest:17 blocked for more than 120 seconds: hung task',
    'WARNING: Comm: ;traps: a[1] general protection fault',
  ]
  const inLog = (message: string) => `6,172608,18789569589,-;${message}`
  assert.equal(isAboutTheKernel(inLog(process)), false)
  for (const line of kernel) assert.equal(isAboutTheKernel(inLog(line)), true, line)
})
