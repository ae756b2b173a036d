/** Ways never to end: each results in TIMEOUT at the deadline, and the next program runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { loops } from '../../support/hostile/isolate-bombs.ts'
import { untilShown } from '../../support/patient-run.ts'
import { useService } from './use-service.ts'

const { execute, outputOf } = useService({ poolSize: 1 })
/** The promise is 50 ms. On a busy machine a process may wait longer for a processor. */
const lateMs = 250

for (const [name, code] of Object.entries(loops))
  test(`${name}: TIMEOUT at the deadline, and the next program runs`, async () => {
    const attempt = async (timeoutMs: number) => {
      const options = { timeoutSeconds: timeoutMs / 1000, memoryLimitMB: 512 }
      const { executionTimeMs = 0, ...answer } = await execute(code, options)
      return { ...answer, late: executionTimeMs - timeoutMs }
    }
    const { seen, deadlineMs } = await untilShown(
      attempt,
      (one) => one.seen.errorType !== 'TIMEOUT' || one.seen.late < lateMs,
      [250, 1000, 4000],
    )
    const { success, error, errorType, late } = seen
    assert.deepEqual([success, errorType], [false, 'TIMEOUT'], error)
    assert.equal(error, `Code execution exceeded timeout of ${deadlineMs / 1000} seconds`)
    assert.ok(late > -5 && late < lateMs, `${late} ms after the deadline`)
    assert.equal(await outputOf('output = 1'), 1)
  })
