import assert from 'node:assert/strict'
import { test } from 'node:test'

import { floorGrowth } from '../../scripts/soaking/growth.ts'

/** Ten samples in MiB, from 6,000 runs in separate cells that leaked nothing. */
const uneven = [153, 154, 146, 156, 147, 147, 155, 156, 148, 157]

test('a size that goes up and down does not count as growth, and a leak below it does', () => {
  assert.equal(floorGrowth(uneven), 1)
  const leaking = uneven.map((size, look) => size + 2 * look)
  assert.ok(floorGrowth(leaking) > 5)
})

test('growth that ended before the measurements does not count, and continuing growth does', () => {
  const settled = Array.from({ length: 10 }, () => 152)
  assert.equal(floorGrowth(settled), 0)
  assert.equal(floorGrowth(settled.map((size, look) => size + look)), 5)
})

test('without measurements no growth is reported', () => {
  assert.equal(floorGrowth([]), 0)
})
