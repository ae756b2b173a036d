/**
 * Python as its documentation describes it, program by program. `LAZARET_TEST_PYTHON` names another interpreter to
 * test. One skipped test names the cases that need a newer interpreter.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { RunResult } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { asynchronous } from './asynchronous.ts'
import type { PythonCase } from './case.ts'
import { classes } from './classes.ts'
import { displays } from './displays.ts'
import { expressions } from './expressions.ts'
import { failures } from './failures.ts'
import { library } from './library.ts'
import { statements } from './statements.ts'
import { system } from './system.ts'

const areas = { expressions, statements, classes, asynchronous, failures, library, system, displays }
/** Programs at a time: more than there are processors, because a start mostly waits. */
const concurrency = 4

const configured = process.env['LAZARET_TEST_PYTHON']
const { run } = await useLazaret({
  // With the default pools, as callers have them: otherwise most of the work would be to start interpreters.
  pools: {},
  ...(configured !== undefined && { toolchains: { python: configured } }),
})
const { valueTagged } = await run({ language: 'python', code: 'import sys\nlist(sys.version_info[:2])' })
const [major, minor] = valueTagged as [number, number]
const isHere = ({ since = [3, 9] }: PythonCase) =>
  major > since[0] || (major === since[0] && minor >= since[1])

// All run before the first test, because leftovers can only be detected while nothing else runs.
const results = await runAll(Object.values(areas).flat().filter(isHere))

for (const [area, cases] of Object.entries(areas)) {
  suite(`Python ${major}.${minor}, ${area}`, () => {
    for (const each of cases.filter(isHere))
      test(`${each.feature}: ends as documented`, () => requireExpected(results.get(each), each))
  })
}

const missing = Object.values(areas)
  .flat()
  .filter((each) => !isHere(each))
const newest = missing.map(({ feature, since }) => `${feature} (${since?.join('.')})`)
test(
  'every documented feature of the table is tried',
  {
    skip: missing.length > 0 && `this Python is ${major}.${minor}; newer are: ${newest.join(', ')}`,
  },
  () => assert.ok(Object.values(areas).flat().length >= 80),
)

/** Runs them in order, a few at a time. */
async function runAll(cases: readonly PythonCase[]): Promise<ReadonlyMap<PythonCase, RunResult>> {
  const ended = new Map<PythonCase, RunResult>()
  const waiting = cases.values()
  const work = async () => {
    for (const each of waiting)
      ended.set(each, await run({ language: 'python', code: each.code, ...each.request }))
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return ended
}

function requireExpected(result: RunResult | undefined, expected: PythonCase): void {
  assert.ok(result !== undefined)
  const { exitCode = 0, error } = expected
  requireText(result.stderr, expected.stderr ?? '')
  requireText(result.stdout, expected.stdout ?? '')
  assert.deepEqual(result.valueTagged, expected.value)
  assert.deepEqual(result.displays, expected.displays ?? [])
  assert.deepEqual(result.displays.map(Object.keys), (expected.displays ?? []).map(Object.keys))
  if (error === undefined) {
    assert.deepEqual(result.outcome, { kind: 'completed', exitCode })
    return
  }
  assert.equal(result.outcome.kind, error.isSyntax === true ? 'syntax-error' : 'failed')
  assert.ok('error' in result.outcome)
  assert.equal(result.outcome.error.name, error.name)
  assert.equal(result.outcome.error.line, error.line)
  if (error.message !== undefined) requireText(result.outcome.error.message, error.message)
  if (result.outcome.kind === 'failed') assert.equal(result.outcome.exitCode, exitCode)
}

function requireText(actual: string, expected: string | RegExp): void {
  if (typeof expected === 'string') assert.equal(actual, expected)
  else assert.match(actual, expected)
}
