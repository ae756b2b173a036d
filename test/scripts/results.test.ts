/** The results of a pass, from the events of Node's test runner. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestEvent } from 'node:test/reporters'

import { hasDied, wasStuck } from '../../scripts/testing/failures.ts'
import reportResults from '../../scripts/testing/results.ts'
import type { PassResults } from '../../scripts/testing/results.ts'

function failed(file: string, name: string, nesting = 1, error = new Error(`${name} is wrong`)): TestEvent {
  const data = {
    name,
    nesting,
    testNumber: 1,
    file: `${process.cwd()}/${file}`,
    details: { duration_ms: 1, error },
  }
  return { type: 'test:fail', data } as TestEvent
}

function ended(file: string): TestEvent {
  return { type: 'test:summary', data: { file, duration_ms: 1 } } as TestEvent
}

/** A file that shares a process ends with the test that contains its tests. */
function endedInGroup(file: string): TestEvent {
  const error = Object.assign(new Error('a test in it failed'), { failureType: 'subtestsFailed' })
  return failed('scripts/testing/shared-process.ts', file, 0, error)
}

async function report(events: readonly TestEvent[]): Promise<PassResults> {
  let text = ''
  for await (const part of reportResults(
    (async function* () {
      yield* events
    })(),
  ))
    text += part
  return JSON.parse(text) as PassResults
}

test('a failure in a contract belongs to the test file that ran it', async () => {
  const { failures, reasons } = await report([
    failed('test/a.test.ts', 'own'),
    ended('test/a.test.ts'),
    failed('test/contracts/receipt.ts', 'shared'),
    ended('test/b.test.ts'),
    failed('test/contracts/receipt.ts', 'shared'),
    endedInGroup('test/c.test.ts'),
  ])
  const shared = (file: string) => `${file}: test/contracts/receipt.ts: shared`
  assert.deepEqual(failures, ['test/a.test.ts: own', shared('test/b.test.ts'), shared('test/c.test.ts')])
  assert.match(
    reasons[shared('test/b.test.ts')] ?? '',
    /^"shared is wrong" \(test\/scripts\/results\.test\.ts:\d+\)$/,
  )
})

test('the reason of a failure is one line with both values', async () => {
  const error = new Error('Expected values to be strictly equal:\n\n2 !== 1\n')
  error.stack = 'no calls'
  const { failures, reasons } = await report([failed('test/a.test.ts', 'own', 1, error)])
  assert.equal(reasons[failures[0] ?? ''], '"Expected values to be strictly equal: 2 !== 1"')
})

test('a failure at the end of a shared process belongs to none of its files', async () => {
  const { failures } = await report([
    endedInGroup('test/a.test.ts'),
    failed('test/support/use-lazaret.ts', 'after', 0),
    ended('/tmp/pure-1.group.mjs'),
    ended('test/b.test.ts'),
  ])
  assert.deepEqual(failures, ['test/support/use-lazaret.ts: after'])
})

test('the failure of a process that was ended because it was stuck says so, and so does that of one that died', async () => {
  for (const [how, expected] of [
    [{ exitCode: null, signal: 'SIGKILL' }, wasStuck],
    [{ exitCode: null, signal: 'SIGSEGV' }, `${hasDied} (SIGSEGV)`],
    [{ exitCode: 7, signal: null }, `${hasDied} (exit code 7)`],
  ] as const) {
    const error = Object.assign(new Error('test failed'), how)
    const { failures, reasons } = await report([failed('test/a.test.ts', 'test/a.test.ts', 0, error)])
    assert.equal(reasons[failures[0] ?? ''], expected)
  }
})
