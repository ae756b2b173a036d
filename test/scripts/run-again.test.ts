/** The results of a pass in which some files have run again, and which failures are never tried again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { hasDied, kindOf, missing, wasStuck } from '../../scripts/testing/failures.ts'
import { noResults } from '../../scripts/testing/results.ts'
import type { PassResults } from '../../scripts/testing/results.ts'
import { excusableFiles, lostFiles, withSecondRun } from '../../scripts/testing/run-again.ts'

const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts', 'test/d.test.ts', 'test/e.test.ts']
const lostReport = '"Unable to deserialize cloned data due to invalid or unsupported version."'

function results(parts: Partial<PassResults>): PassResults {
  return { ...noResults, ...parts }
}

function file(name: string, passed: number, failed = 0) {
  return { file: name, passed, failed, skipped: 0, durationMs: 1 }
}

const first = results({
  passed: 9,
  failed: 1,
  failures: ['test/a.test.ts: is slow'],
  files: [file('test/a.test.ts', 3, 1), file('test/b.test.ts', 6)],
})

test('a failure is named after what it says about the product', () => {
  const kinds = {
    hang: [
      ['/tmp/by-turns-1.group.mjs: by-turns-1.group.mjs', wasStuck],
      ['test/a.test.ts: waits', '"test timed out after 120000ms"'],
      ['did not end within 1800 s', undefined],
    ],
    leak: [
      ['test/a.test.ts: afterEach', '"still so after 20000 ms: left behind: process 7 (sh, S, child of 1)"'],
      ['left behind: temporary folder: x', undefined],
    ],
    crash: [['test/a.test.ts: test/a.test.ts', `${hasDied} (SIGSEGV)`]],
    breach: [['test/escape/kernel/setuid.test.ts: no', '"0 !== 1000"']],
    lost: [['/tmp/pure-1.group.mjs: pure-1.group.mjs', lostReport]],
    other: [
      ['test/a.test.ts: is wrong', '"1 !== 2"'],
      ['test/escape/kernel/setuid.test.ts: no', "\"'timed-out' !== 'completed'\""],
    ],
  } as const
  for (const [kind, some] of Object.entries(kinds))
    for (const [failure, reason] of some) assert.equal(kindOf(failure, reason), kind, failure)
})

test('only failures that a busy machine explains are tried again', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => `test/${index}.test.ts`)
  const failing = (count: number, reason = '"1 !== 2"') => {
    const failures = hundred.slice(0, count).map((name) => `${name}: fails`)
    return results({ failures, reasons: Object.fromEntries(failures.map((name) => [name, reason])) })
  }
  assert.deepEqual(excusableFiles(hundred, failing(5)), hundred.slice(0, 5))
  assert.deepEqual(excusableFiles(hundred, failing(6)), [], 'many')
  assert.deepEqual(excusableFiles(['test/a.test.ts'], first), [], 'all')
  for (const reason of [
    wasStuck,
    `${hasDied} (SIGSEGV)`,
    '"left behind: /tmp/x"',
    '"test timed out after 9ms"',
  ])
    assert.deepEqual(excusableFiles(hundred, failing(1, reason)), [], reason)
  const late = results({ failures: [...first.failures, 'did not end within 1800 s'] })
  assert.deepEqual(excusableFiles(files, late), [])
})

test('a file that passes alone no longer counts as failed, and is named', () => {
  const second = results({ passed: 4, files: [file('test/a.test.ts', 4)] })
  const { passed, failed, failures, flaky } = withSecondRun(first, second, ['test/a.test.ts'])
  assert.deepEqual(
    { passed, failed, failures, flaky },
    { passed: 10, failed: 0, failures: [], flaky: ['test/a.test.ts: is slow'] },
  )
})

test('a file that fails again fails, with what failed this time', () => {
  const second = results({
    passed: 3,
    failed: 1,
    failures: ['test/a.test.ts: is wrong'],
    files: [file('test/a.test.ts', 3, 1)],
  })
  const { passed, failed, failures } = withSecondRun(first, second, ['test/a.test.ts'])
  assert.deepEqual(
    { passed, failed, failures },
    { passed: 9, failed: 1, failures: ['test/a.test.ts: is wrong'] },
  )
})

test('a file that passes once and then fails has failed', () => {
  const once = withSecondRun(first, results({ passed: 4, files: [file('test/a.test.ts', 4)] }), [
    'test/a.test.ts',
  ])
  const twice = withSecondRun(
    once,
    results({
      passed: 3,
      failed: 1,
      failures: ['test/a.test.ts: is slow'],
      files: [file('test/a.test.ts', 3, 1)],
    }),
    ['test/a.test.ts'],
  )
  assert.deepEqual([twice.failed, twice.failures], [1, ['test/a.test.ts: is slow']])
})

test('a test that is skipped in the second run has failed', () => {
  const skipped = [{ name: 'test/a.test.ts: is slow', reason: 'not here' }]
  const second = results({ passed: 3, skipped, files: [file('test/a.test.ts', 3)] })
  const whole = withSecondRun(first, second, ['test/a.test.ts'])
  assert.deepEqual([whole.failed, whole.failures, whole.flaky], [1, ['test/a.test.ts: is slow'], []])
})

test('a hook that files share fails with one of them, and runs again with it', () => {
  const hook = 'test/support/use-lazaret.ts: after'
  const withHook = results({ ...first, failed: 2, failures: [...first.failures, hook] })
  assert.deepEqual(excusableFiles(files, withHook), ['test/a.test.ts'])
  assert.deepEqual(excusableFiles(files, results({ failures: [hook] })), [])
  const second = results({ passed: 4, files: [file('test/a.test.ts', 4)] })
  assert.deepEqual(withSecondRun(withHook, second, ['test/a.test.ts']).failed, 0)
  const again = results({ passed: 4, failed: 1, failures: [hook], files: [file('test/a.test.ts', 4)] })
  assert.deepEqual(withSecondRun(withHook, again, ['test/a.test.ts']).failures, [hook])
})

test('a process whose reports were lost is named, and its files run again', () => {
  const name = '/tmp/pure-1.group.mjs: pure-1.group.mjs'
  const lost = results({
    passed: 6,
    failed: 2,
    failures: [name, missing('test/a.test.ts')],
    reasons: { [name]: lostReport },
    files: files.slice(1).map((one) => file(one, 1)),
  })
  assert.deepEqual(lostFiles(files, lost), ['test/a.test.ts'])
  assert.deepEqual(lostFiles(files, first), [])
  assert.deepEqual(lostFiles(files, { ...lost, reasons: { [name]: wasStuck } }), [])
  const second = results({ passed: 4, files: [file('test/a.test.ts', 4)] })
  const { passed, failed, failures, flaky } = withSecondRun(lost, second, ['test/a.test.ts'])
  assert.deepEqual(
    { passed, failed, failures, flaky },
    { passed: 10, failed: 0, failures: [], flaky: [name] },
  )
})
