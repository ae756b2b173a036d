/** Compares a run's result with its row in the table. */
import assert from 'node:assert/strict'
import type { RunResult } from '../../../src/core/result.ts'
import type { Expected } from './program.ts'

/** Throws an AssertionError that names the difference. */
export function assertResult(result: RunResult, expected: Expected): void {
  const { outcome } = result
  const { stdout = '', stderr = '', logs, error } = expected
  assert.equal(outcome.kind, expected.outcome ?? 'completed', described(result))
  if ('exitCode' in outcome) assert.equal(outcome.exitCode, expected.exitCode ?? 0, described(result))
  if ('error' in outcome && error !== undefined) {
    assert.equal(outcome.error.name, error.name)
    if (error.message !== undefined) assertText(outcome.error.message, error.message)
    if (error.line !== undefined) assert.equal(outcome.error.line, error.line, described(result))
    if (error.column !== undefined) assert.equal(outcome.error.column, error.column, described(result))
    if (error.stack !== undefined) assertText(outcome.error.stack ?? '', error.stack)
  }
  assert.deepEqual(result.value, expected.value)
  assertText(result.stdout, stdout)
  assertText(result.stderr, stderr)
  if (logs !== undefined)
    assert.deepEqual(
      result.logs.map(({ level, text }) => [level, text]),
      logs,
    )
  const everything = `${result.stdout}${described(result)}`
  assert.doesNotMatch(everything, /\/opt\/lazaret/)
  // Stacks of workers contain other frames.
  if (!everything.includes('[worker eval]')) assert.doesNotMatch(everything, /node:internal/)
}

const assertText = (text: string, expected: string | RegExp): void =>
  typeof expected === 'string' ? assert.equal(text, expected) : assert.match(text, expected)

const described = ({ outcome, stderr }: RunResult): string => `${JSON.stringify(outcome)}\n${stderr}`
