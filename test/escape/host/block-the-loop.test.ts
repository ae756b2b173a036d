/**
 * Messages, values, output and calls that block the host's event loop, so that other requests have to wait, or
 * fill the host's memory. Every hostile program of the repository that talks to the host runs here, but for the values of
 * test/properties/hostile-values.test.ts, which keep the same bounds.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import type { RunRequest, RunResult } from '../../../src/index.ts'
import { endlessJavascript, outputFloods } from '../../support/hostile/endless-programs.ts'
import {
  brokenFrames,
  callFloods,
  forgeManyKeys,
  frameFloods,
} from '../../support/hostile/forged-messages.ts'
import { pythonCalls, pythonFrames } from '../../support/hostile/forged-messages.ts'
import {
  costlyCalls,
  costlyFloods,
  costlyOutput,
  costlyValues,
} from '../../support/hostile/hostile-messages.ts'
import {
  formatDelay,
  growthBytesMax,
  keepLoopFree,
  type LoopDelay,
} from '../../support/machine/loop-delay.ts'
import { bun, python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Enough for hundreds of turns that a flood could block. */
const limits = { wallMs: 8000, hostMs: 200 }
const echo = { echo: (value: unknown) => value }

/** The run must end by one of its limits or by itself. */
const ends = ['completed', 'failed', 'limit-exceeded', 'timed-out', 'out-of-memory']

let worst: LoopDelay = { maxMs: 0, mostMs: 0, growthBytes: 0 }
after(() => console.log(`The worst of all: the loop turned after ${formatDelay(worst)}`))

const bounds = {
  growthBytesMax,
  onMeasured: ({ maxMs, mostMs, growthBytes }: LoopDelay): void => {
    worst = {
      maxMs: Math.max(worst.maxMs, maxMs),
      mostMs: Math.max(worst.mostMs, mostMs),
      growthBytes: Math.max(worst.growthBytes, growthBytes),
    }
  },
}

async function keepFree(name: string, request: RunRequest): Promise<RunResult> {
  const result = await keepLoopFree(name, () => guests.run({ limits, ...request }), bounds)
  assert.ok(ends.includes(result.outcome.kind), JSON.stringify(result.outcome))
  return result
}

function testAll(
  kind: string,
  codes: Readonly<Record<string, string>>,
  rest: Partial<RunRequest> = {},
): void {
  for (const [name, code] of Object.entries(codes))
    test(`${kind}: ${name}`, async () => {
      await keepFree(`${kind}: ${name}`, { ...python, code, ...rest })
    })
}

for (const [name, code] of Object.entries(costlyValues))
  test(`a value: ${name}`, async () => {
    const { value, truncated, outcome } = await keepFree(name, { ...python, code })
    // Missing parts must be marked as missing.
    assert.ok(
      value !== undefined || truncated.includes('value') || outcome.kind !== 'completed',
      JSON.stringify(outcome),
    )
  })

const following = (start: string, codes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(codes).map(([name, code]) => [name, `${start}\n${code}`]))

testAll('a flood', costlyFloods)
testAll('a flood of frames', following(pythonFrames, frameFloods))
testAll('frames that are none', following(pythonFrames, brokenFrames))
testAll('many keys', {
  'in a value': forgeManyKeys('value', '"text":"","truncated":false,"value":'),
  'in a call': forgeManyKeys('call', '"id":1,"name":"echo","args":'),
})
testAll('calls', costlyCalls, { functions: echo, limits: { ...limits, functionCallsMax: 1_000_000 } })
testAll('a flood of calls', following(pythonCalls, callFloods), {
  functions: { count: () => 1 },
  limits: { ...limits, functionCallsMax: 1 },
})
testAll('output', costlyOutput)
testAll('output, delivered', costlyOutput, { onOutput: () => undefined })

for (const [name, { prefix: _, ...request }] of Object.entries(outputFloods))
  test(`output: ${name}`, async () => {
    await keepFree(name, request)
  })

for (const [name, code] of Object.entries(endlessJavascript))
  test(`JavaScript without end: ${name}`, async () => {
    await keepFree(name, { ...bun, code, limits: { ...limits, wallMs: 300 } })
  })

test('a run that exceeds hostMs is ended, and the outcome says so', async () => {
  const code = costlyCalls['lists in every call'] ?? ''
  const functions = { echo: () => null }
  const few = { ...limits, hostMs: 50 }
  const { outcome } = await guests.run({ ...python, code, functions, limits: few })
  assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'host', allowed: 50 })
})

test('several guests at once share the time of one event loop', async () => {
  const codes = [...Object.values(costlyFloods), ...Object.values(costlyValues).slice(0, 2)]
  await keepLoopFree('eight guests at once', () =>
    Promise.all(codes.map((code) => guests.run({ ...python, code, limits: { ...limits, wallMs: 3000 } }))),
  )
})
