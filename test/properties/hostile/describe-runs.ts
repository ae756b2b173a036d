/** Declares tests with programs whose values are hostile, on the caller's Lazaret. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunRequest } from '../../../src/core/request.ts'
import { growthBytesMax, keepLoopFree } from '../../support/machine/loop-delay.ts'
import { ampleMs } from '../../support/patient-run.ts'
import type { TestLazaret } from '../../support/use-lazaret.ts'
import { listFaults, type Seen } from './find-faults.ts'
import { type HostileValue, nothing, readRows, resultBytes } from './hostile-value.ts'

const limits = { wallMs: ampleMs, hostMs: 1000, resultBytes }
const hangLimits = { ...limits, wallMs: 1000 }
const bounds = { growthBytesMax, onMeasured: () => undefined }

type DescribeRuns = (
  name: string,
  request: RunRequest,
  sound: unknown,
  areas: Readonly<Record<string, Parameters<typeof readRows>[0]>>,
) => void

export function hostileRunsOf(guests: TestLazaret): DescribeRuns {
  const lookAtRun = async (request: RunRequest, hostile: HostileValue): Promise<Seen> => {
    const isHanging = hostile.outcome === 'timed-out'
    const result = await guests.run({
      ...request,
      code: hostile.code,
      limits: isHanging ? hangLimits : limits,
    })
    return {
      outcome: result.outcome.kind,
      isCut: result.truncated.includes('value'),
      value: 'value' in result ? result.value : nothing,
    }
  }

  return (name, request, sound, areas) => {
    describe(`hostile values of ${name}`, () => {
      for (const [area, rows] of Object.entries(areas)) {
        test(`${rows.length} of them, ${area}, harm nobody`, async () => {
          const look = (value: HostileValue) =>
            keepLoopFree(value.title, () => lookAtRun(request, value), bounds)
          // One at a time, so that a value that blocks the loop can be named.
          assert.deepEqual(await listFaults(readRows(rows), look, 1), [])
          assert.deepEqual((await guests.run(request)).value, sound)
        })
      }
    })
  }
}
