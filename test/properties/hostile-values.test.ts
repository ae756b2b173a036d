/**
 * Values that guests create to hang, crash or confuse the host: each has the result in its table, the host's loop is
 * not blocked, and the next run works. Node has the same harness as Bun, so here it gets only the values that depend on
 * its engine; test-deep/wide/ has all of them.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { bun, node, python, useLazaret } from '../support/use-lazaret.ts'
import { hostileRunsOf } from './hostile/describe-runs.ts'
import { listFaults, lookAtMessage } from './hostile/find-faults.ts'
import { forgedValues } from './hostile/forged-values.ts'
import { readRows } from './hostile/hostile-value.ts'
import { javascriptValues } from './hostile/javascript-values.ts'
import { pythonValues } from './hostile/python-values.ts'

const guests = await useLazaret()

const describeRuns = hostileRunsOf(guests)

describeRuns('bun', { ...bun, code: '[1, new Set([2])]' }, [1, new Set([2])], javascriptValues)
const { proxies, patched } = javascriptValues
describeRuns('node', { ...node, code: '[1, new Set([2])]' }, [1, new Set([2])], { proxies, patched })
describeRuns('python', { ...python, code: '[1, {2}]' }, [1, new Set([2])], pythonValues)

describe('forged values', () => {
  for (const [area, rows] of Object.entries(forgedValues)) {
    test(`${rows.length} of them, ${area}, do no harm`, async () => {
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
