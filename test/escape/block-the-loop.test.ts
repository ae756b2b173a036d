/** Messages, values and calls that keep the host's event loop from turning, for others' requests to wait behind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest, RunResult } from '../../src/index.ts'
import { costlyCalls, costlyFloods, costlyValues } from '../support/hostile-messages.ts'
import { keepLoopFree } from '../support/loop-delay.ts'
import { python, useLazaret } from '../support/use-lazaret.ts'

const guests = await useLazaret()

const limits = { wallMs: 8000, hostMs: 1000 }

/** However the run ends, it ends by one of its limits or by itself. */
const ends = ['completed', 'failed', 'limit-exceeded', 'timed-out']

async function keepFree(name: string, request: Omit<RunRequest, 'language' | 'runtime'>): Promise<RunResult> {
  const result = await keepLoopFree(name, () => guests.run({ ...python, limits, ...request }))
  assert.ok(ends.includes(result.outcome.kind), JSON.stringify(result.outcome))
  return result
}

for (const [name, code] of Object.entries(costlyValues))
  test(`a value: ${name}`, async () => {
    const { value, truncated, outcome } = await keepFree(name, { code })
    // What is not there is said to be missing.
    assert.ok(
      value !== undefined || truncated.includes('value') || outcome.kind !== 'completed',
      JSON.stringify(outcome),
    )
  })

for (const [name, code] of Object.entries(costlyFloods))
  test(`a flood: ${name}`, async () => {
    await keepFree(name, { code })
  })

for (const [name, code] of Object.entries(costlyCalls))
  test(`calls: ${name}`, async () => {
    const functions = { echo: (value: unknown) => value }
    await keepFree(name, { code, functions, limits: { ...limits, functionCallsMax: 1_000_000 } })
  })

test('a run that costs the host more than it may is ended, and it is said', async () => {
  const code = costlyCalls['lists in every call'] ?? ''
  const functions = { echo: () => null }
  const few = { ...limits, hostMs: 50 }
  const { outcome } = await guests.run({ ...python, code, functions, limits: few })
  assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'host', allowed: 50 })
})

test('several guests at once share the turns of one loop', async () => {
  const codes = [...Object.values(costlyFloods), ...Object.values(costlyValues).slice(0, 2)]
  await keepLoopFree('eight guests at once', () =>
    Promise.all(codes.map((code) => guests.run({ ...python, code, limits: { ...limits, wallMs: 3000 } }))),
  )
})
