/** Names without files: each failed look-up leaves an entry in the kernel's cache of names. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepMemoryFlat } from '../../support/machine/resident-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { python, shell, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import ctypes
access = ctypes.CDLL(None).access
found = 0
for place in (b'/workspace/', b'/tmp/', b'/usr/', b'/dev/shm/'):
    for number in range(250_000):
        if access(place + b'%0200d' % number, 0) == 0: found += 1
print(found)`

test('lookups of a million missing names stay within the memory limit, and the cell ends at once', async () => {
  const limits = { memoryBytes: 64 * 1024 * 1024, wallMs: ampleMs }
  const { outcome, stdout, usage } = await keepMemoryFlat(() => guests.run({ ...python, code, limits }))
  assert.deepEqual([outcome, stdout], [{ kind: 'completed', exitCode: 0 }, '0\n'])
  assert.ok(usage.memoryPeakBytes <= limits.memoryBytes, `${usage.memoryPeakBytes}`)
  await guests.leaks.check()
  assert.equal((await guests.run({ ...shell, code: 'echo next' })).stdout, 'next\n')
})
