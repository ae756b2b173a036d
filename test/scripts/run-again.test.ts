/** The results of a pass in which some files have run a second time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { noResults, wasStuck } from '../../scripts/testing/results.ts'
import type { PassResults } from '../../scripts/testing/results.ts'
import { fewFailed, lostFiles, missing, stuckFiles, withSecondRun } from '../../scripts/testing/run-again.ts'

const files = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts', 'test/d.test.ts', 'test/e.test.ts']

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

test('a file that passes alone no longer counts as failed, and is named', () => {
  const second = results({ passed: 4, files: [file('test/a.test.ts', 4)] })
  const whole = withSecondRun(first, second, ['test/a.test.ts'])
  assert.deepEqual(
    { passed: whole.passed, failed: whole.failed, failures: whole.failures, unsteady: whole.unsteady },
    { passed: 10, failed: 0, failures: [], unsteady: ['test/a.test.ts: is slow'] },
  )
})

test('a file that fails again fails, with what failed this time', () => {
  const second = results({
    passed: 3,
    failed: 1,
    failures: ['test/a.test.ts: is wrong'],
    files: [file('test/a.test.ts', 3, 1)],
  })
  const whole = withSecondRun(first, second, ['test/a.test.ts'])
  assert.deepEqual(
    { passed: whole.passed, failed: whole.failed, failures: whole.failures },
    { passed: 9, failed: 1, failures: ['test/a.test.ts: is wrong'] },
  )
})

test('a test that is skipped in the second run has failed', () => {
  const skipped = [{ name: 'test/a.test.ts: is slow', reason: 'not here' }]
  const second = results({ passed: 3, skipped, files: [file('test/a.test.ts', 3)] })
  const whole = withSecondRun(first, second, ['test/a.test.ts'])
  assert.deepEqual([whole.failed, whole.failures, whole.unsteady], [1, ['test/a.test.ts: is slow'], []])
})

test('a few failed files run again; many, or failures of no file, do not', () => {
  assert.deepEqual(fewFailed(files, first), ['test/a.test.ts'])
  const hundred = Array.from({ length: 100 }, (_, index) => `test/${index}.test.ts`)
  const failing = (count: number) =>
    results({ failures: hundred.slice(0, count).map((name) => `${name}: fails`) })
  assert.deepEqual(fewFailed(hundred, failing(5)), hundred.slice(0, 5))
  assert.deepEqual(fewFailed(hundred, failing(6)), [])
  assert.deepEqual(fewFailed(['test/a.test.ts'], first), [])
  const late = results({ failures: [...first.failures, 'did not end within 1800 s'] })
  assert.deepEqual(fewFailed(files, late), [])
})

test('a hook that files share fails with one of them, and runs again with it', () => {
  const hook = 'test/support/use-lazaret.ts: after'
  const withHook = results({ ...first, failed: 2, failures: [...first.failures, hook] })
  assert.deepEqual(fewFailed(files, withHook), ['test/a.test.ts'])
  assert.deepEqual(fewFailed(files, results({ failures: [hook] })), [])
  const second = results({ passed: 4, files: [file('test/a.test.ts', 4)] })
  assert.deepEqual(withSecondRun(withHook, second, ['test/a.test.ts']).failed, 0)
  const again = results({ passed: 4, failed: 1, failures: [hook], files: [file('test/a.test.ts', 4)] })
  assert.deepEqual(withSecondRun(withHook, again, ['test/a.test.ts']).failures, [hook])
})

test('a process whose reports were lost is named, and no longer counts as failed', () => {
  const lost = results({
    passed: 6,
    failed: 2,
    failures: ['/tmp/pure-1.group.mjs: pure-1.group.mjs', missing('test/a.test.ts')],
    files: files.slice(1).map((name) => file(name, 1)),
  })
  assert.deepEqual(lostFiles(files, lost), ['test/a.test.ts'])
  assert.deepEqual(lostFiles(files, first), [])
  const second = results({ passed: 4, files: [file('test/a.test.ts', 4)] })
  const whole = withSecondRun(lost, second, ['test/a.test.ts'])
  assert.deepEqual(
    { passed: whole.passed, failed: whole.failed, failures: whole.failures, unsteady: whole.unsteady },
    { passed: 10, failed: 0, failures: [], unsteady: ['/tmp/pure-1.group.mjs: pure-1.group.mjs'] },
  )
})

test('the files of a shared process that was stuck run again, and the process is named', () => {
  const processes = [
    { group: { name: 'by-turns-1', sharing: 'process' as const }, files: files.slice(0, 2) },
    { group: { name: 'by-turns-2', sharing: 'process' as const }, files: files.slice(2, 4) },
    { files: files.slice(4) },
  ]
  const name = '/tmp/groups/by-turns-2.group.mjs: by-turns-2.group.mjs'
  const all = files.map((one) => file(one, 1))
  const stuck = results({ passed: 5, failed: 1, failures: [name], reasons: { [name]: wasStuck }, files: all })
  assert.deepEqual(stuckFiles(processes, stuck), files.slice(2, 4))
  assert.deepEqual(stuckFiles(processes, { ...stuck, reasons: { [name]: 'it crashed' } }), [])
  const second = results({ passed: 2, files: all.slice(2, 4) })
  const whole = withSecondRun(stuck, second, files.slice(2, 4))
  assert.deepEqual(
    { passed: whole.passed, failed: whole.failed, failures: whole.failures, unsteady: whole.unsteady },
    { passed: 5, failed: 0, failures: [], unsteady: [name] },
  )
})
