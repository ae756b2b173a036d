/** The summary at the end of a run of the tests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { describeParts } from '../../scripts/testing/describe-parts.ts'
import { missing } from '../../scripts/testing/failures.ts'
import { noResults } from '../../scripts/testing/results.ts'
import type { PassResults } from '../../scripts/testing/results.ts'

function part(results: Partial<PassResults>) {
  return { name: 'as root', results: { ...noResults, ...results }, seconds: 3 }
}

test('what failed comes last, before the total', () => {
  const parts = [
    part({
      passed: 5,
      failed: 1,
      skipped: [{ name: 'test/a.test.ts: needs more', reason: 'not here' }],
      failures: ['test/a.test.ts: is wrong'],
      reasons: { 'test/a.test.ts: is wrong': '"2 !== 1"', 'test/b.test.ts: is slow': '"late"' },
      flaky: ['test/b.test.ts: is slow'],
      processorMs: 1600,
    }),
    part({ passed: 1 }),
  ]
  assert.deepEqual(
    describeParts(parts, {
      problems: ['as root: a test was skipped'],
      notes: { 'Skipped here:': ['  a note'] },
    }),
    [
      'Skipped here:',
      '  a note',
      '',
      'Flaky: failed among others, then passed twice alone, or in quarantine:',
      '  as root: test/b.test.ts: is slow: "late"',
      '',
      'as root: 5 passed, 1 failed, 1 skipped (3 s, processors 2 s)',
      'as root: 1 passed, 0 failed, 0 skipped (3 s)',
      '',
      'Failed:',
      '  as root: test/a.test.ts: is wrong: "2 !== 1"',
      '',
      'as root: a test was skipped',
      '6 passed, 1 failed, 1 skipped',
    ],
  )
})

test('tests of one file that failed for one reason share a line, and so do many missing files', () => {
  const failures = [
    'test/a.test.ts: first',
    'test/a.test.ts: second',
    'test/b.test.ts: first',
    'test/a.test.ts: third',
    ...Array.from({ length: 11 }, (_, index) => missing(`test/${index}.test.ts`)),
  ]
  const reasons = Object.fromEntries(failures.slice(0, 3).map((name) => [name, '"the hook failed"']))
  const lines = describeParts([part({ failed: 15, failures, reasons })], { problems: [], notes: {} })
  assert.deepEqual(lines.slice(3, -2), [
    '  as root: 11 files have not run to their end',
    '  as root: test/a.test.ts: first, and 1 more of its file: "the hook failed"',
    '  as root: test/b.test.ts: first: "the hook failed"',
    '  as root: test/a.test.ts: third',
  ])
})
