import assert from 'node:assert/strict'
import { test } from 'node:test'

import { judge } from '../../bench/measure/judge.ts'
import { halfRange, quantile, summarize } from '../../bench/measure/statistics.ts'

test('quantiles are members of the sample', () => {
  assert.equal(quantile([3, 1, 2], 0.5), 2)
  assert.equal(quantile([3, 1, 2], 1), 3)
  assert.deepEqual(summarize([5]), { p50: 5, p95: 5, p99: 5, '±': 0 })
  assert.equal(halfRange([1, 9, 3]), 4)
})

test('a winner is called only when the difference is larger than the spread of both', () => {
  const lower = { figure: 'p50', better: 'lower', otherWork: 0 } as const
  assert.deepEqual(judge({ p50: 1, '±': 0.5 }, { p50: 4, '±': 1 }, lower), { ratio: 0.25, winner: 'lazaret' })
  assert.deepEqual(judge({ p50: 4, '±': 1 }, { p50: 1, '±': 0.5 }, lower), { ratio: 4, winner: 'rival' })
  assert.equal(judge({ p50: 1, '±': 0.5 }, { p50: 4, '±': 3 }, lower).winner, null)
  assert.equal(judge({ p50: 1, '±': 3 }, { p50: 4, '±': 0 }, lower).winner, null)
  assert.equal(judge({ p50: Number.NaN }, { p50: 4 }, lower).winner, null)
  const higher = { figure: 'runs/s', better: 'higher', otherWork: 0 } as const
  assert.equal(judge({ 'runs/s': 9 }, { 'runs/s': 3 }, higher).winner, 'lazaret')
})

test('no winner is called while other programs keep the machine busy', () => {
  const busy = { figure: 'p50', better: 'lower', otherWork: 0.4 } as const
  assert.deepEqual(judge({ p50: 1, '±': 0 }, { p50: 4, '±': 0 }, busy), {
    ratio: 0.25,
    winner: null,
    reason: 'other work took 40 % of the machine',
  })
})

test('there is no ratio of something below 0', () => {
  const measure = { figure: 'p50', better: 'lower', otherWork: 0 } as const
  assert.deepEqual(judge({ p50: -1, '±': 0 }, { p50: 1, '±': 0 }, measure), {
    ratio: null,
    winner: 'lazaret',
  })
})
