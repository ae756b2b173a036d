/** A value that a guest returns to its caller arrives unchanged. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from '../support/fast-check.ts'
import { bun, node, python, type TestLazaret } from '../support/use-lazaret.ts'
import { anyValue } from './any-value.ts'
import { assertSame, findDifference } from './same-value.ts'

const batchLength = 500
const echoes = {
  bun: { ...bun, code: 'input' },
  node: { ...node, code: 'input' },
  python: { ...python, code: 'input_data' },
}

/** Declares the tests. */
export function describeRoundTrips(guests: TestLazaret, batches: number): void {
  describe(`${batches * batchLength} values`, () => {
    const values = sampleValues(batches * batchLength)

    for (const [name, request] of Object.entries(echoes)) {
      test(`go into ${name} and return unchanged`, async () => {
        for (let start = 0; start < values.length; start += batchLength) {
          const batch = values.slice(start, start + batchLength)
          const { outcome, value, truncated } = await guests.run({ ...request, input: batch })
          assert.deepEqual([outcome, truncated], [{ kind: 'completed', exitCode: 0 }, []])
          const back = value as readonly unknown[]
          assert.equal(back.length, batch.length)
          const differences = batch.flatMap((sent, index) => findDifference(back[index], sent) ?? [])
          assert.deepEqual(differences.slice(0, 5), [])
        }
      })
    }

    test('go from each language to the next and return unchanged', async () => {
      const batch = values.slice(0, batchLength)
      let carried: unknown = batch
      for (const request of [echoes.bun, echoes.python, echoes.node, echoes.python, echoes.bun])
        carried = (await guests.run({ ...request, input: carried })).value
      assertSame(carried, batch)
    })
  })
}

function sampleValues(count: number): readonly unknown[] {
  const { stackTraceLimit } = Error
  // Otherwise the stacks of thousands of errors would be most of the data.
  Error.stackTraceLimit = 1
  try {
    return fc.sample(anyValue, { numRuns: count })
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
