/** The memory that documents take, estimated. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSteps } from '../../../src/core/steps.ts'
import { weigh } from '../../../src/core/values/weigh.ts'

test('texts count with their length, and each member a little', () => {
  const weightOf = (data: unknown): number => runSteps(weigh(data))
  assert.equal(weightOf('x'.repeat(1000)), 1016)
  assert.equal(weightOf([1, null, ['a']]), 5 * 16 + 1)
  assert.equal(weightOf({ toJSON: () => ({ a: 'bc' }) }), 2 * 16 + 2)
  assert.equal(weightOf(Array.from({ length: 5000 }, () => [])), 5001 * 16)
})
