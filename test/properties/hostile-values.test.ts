/**
 * Values that guests make to hang, crash or confuse the host: each comes to what its table says, the host's loop turns
 * meanwhile, and the next run is fine.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { RunRequest } from '../../src/core/request.ts'
import { growthBytesMax, keepLoopFree } from '../support/loop-delay.ts'
import { bun, node, python, useLazaret } from '../support/use-lazaret.ts'
import { listFaults, lookAtMessage, type Seen } from './hostile/find-faults.ts'
import { forgedValues } from './hostile/forged-values.ts'
import { type HostileValue, nothing, readRows, resultBytes } from './hostile/hostile-value.ts'
import { javascriptValues } from './hostile/javascript-values.ts'
import { pythonValues } from './hostile/python-values.ts'

const guests = await useLazaret()

const limits = { wallMs: 20_000, hostMs: 1000, resultBytes }
const hangLimits = { ...limits, wallMs: 1000 }
const bounds = { growthBytesMax, onMeasured: () => undefined }

async function lookAtRun(request: RunRequest, hostile: HostileValue): Promise<Seen> {
  const isHanging = hostile.outcome === 'timed-out'
  const result = await guests.run({ ...request, code: hostile.code, limits: isHanging ? hangLimits : limits })
  return {
    outcome: result.outcome.kind,
    isCut: result.truncated.includes('value'),
    value: 'value' in result ? result.value : nothing,
  }
}

function describeRuns(
  name: string,
  request: RunRequest,
  sound: unknown,
  areas: Readonly<Record<string, Parameters<typeof readRows>[0]>>,
): void {
  describe(`hostile values of ${name}`, () => {
    for (const [area, rows] of Object.entries(areas)) {
      test(`${rows.length} of them, ${area}, harm nobody`, async () => {
        const look = (value: HostileValue) =>
          keepLoopFree(value.title, () => lookAtRun(request, value), bounds)
        // One at a time, so that what keeps the loop has a name.
        assert.deepEqual(await listFaults(readRows(rows), look, 1), [])
        assert.deepEqual((await guests.run(request)).value, sound)
      })
    }
  })
}

describeRuns('bun', { ...bun, code: '[1, new Set([2])]' }, [1, new Set([2])], javascriptValues)
describeRuns('node', { ...node, code: '[1, new Set([2])]' }, [1, new Set([2])], javascriptValues)
describeRuns('python', { ...python, code: '[1, {2}]' }, [1, new Set([2])], pythonValues)

describe('forged values', () => {
  for (const [area, rows] of Object.entries(forgedValues)) {
    test(`${rows.length} of them, ${area}, harm nobody`, async () => {
      assert.deepEqual(await listFaults(readRows(rows), lookAtMessage), [])
    })
  }

  test('reach the caller of run() as they reach the channel', async () => {
    const rows = [...forgedValues.references, ...forgedValues.prototypes, ...forgedValues.errors.slice(0, 10)]
    const send =
      'import os, sys, struct\ndata = sys.stdin.buffer.read()\nos.write(3, struct.pack("<I", len(data)) + data)\nos._exit(0)'
    const faults = await listFaults(
      readRows(rows).filter(({ code }) => code.length < 50_000),
      async ({ code }) => {
        const stdin = `{"type":"value","truncated":false,"text":"","value":${code}}`
        const result = await guests.run({ ...python, code: send, stdin })
        return { outcome: result.outcome.kind, isCut: result.truncated.length > 0, value: result.value }
      },
    )
    assert.deepEqual(faults, [])
  })
})
