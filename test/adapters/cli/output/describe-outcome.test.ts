import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeOutcome } from '../../../../src/adapters/cli/output/describe-outcome.ts'

test('a failure names the error, its line and column, and the exit code', () => {
  const error = { name: 'TypeError', message: 'x is not a function', line: 3, column: 7 }
  assert.equal(
    describeOutcome({ kind: 'failed', error, exitCode: 1 }),
    'failed: TypeError: x is not a function (<code>:3:7), exit 1',
  )
  assert.equal(
    describeOutcome({ kind: 'failed', error: { name: 'KeyboardInterrupt', message: '' }, exitCode: 1 }),
    'failed: KeyboardInterrupt, exit 1',
  )
})

test('a limit is named with its value and the option that raises it', () => {
  assert.equal(
    describeOutcome({ kind: 'timed-out', limit: 'wall', limitMs: 1_000 }),
    'timed out after 1 s (wall). Raise --timeout if the program needs longer.',
  )
  assert.match(
    describeOutcome({ kind: 'timed-out', limit: 'cpu', limitMs: 500 }) ?? '',
    /500 ms \(cpu\).*--cpu/,
  )
  assert.match(describeOutcome({ kind: 'out-of-memory', limitBytes: 2 ** 26 }) ?? '', /64 MiB.*--memory/)
  assert.match(
    describeOutcome({ kind: 'limit-exceeded', limit: 'output', allowed: 2 ** 20 }) ?? '',
    /1 MiB.*--output/,
  )
  assert.match(
    describeOutcome({ kind: 'limit-exceeded', limit: 'processes', allowed: 8 }) ?? '',
    /8 proc.*--processes/,
  )
})

test('for a limit at the operator’s ceiling, no option is named', () => {
  const ceilings = { wallMs: 1_000, memoryBytes: 2 ** 26, processesMax: 8, outputBytes: 2 ** 30 }
  assert.equal(
    describeOutcome({ kind: 'timed-out', limit: 'wall', limitMs: 1_000 }, ceilings),
    "timed out after 1 s (wall). That is the operator's ceiling, `ceilings.wallMs`.",
  )
  assert.match(
    describeOutcome({ kind: 'timed-out', limit: 'cpu', limitMs: 500 }, { ...ceilings, cpuMs: null }) ?? '',
    /--cpu/,
  )
  assert.match(
    describeOutcome({ kind: 'out-of-memory', limitBytes: 2 ** 26 }, ceilings) ?? '',
    /at 64 MiB\. That is .*ceilings\.memoryBytes/,
  )
  assert.match(
    describeOutcome({ kind: 'limit-exceeded', limit: 'processes', allowed: 8 }, ceilings) ?? '',
    /ceilings\.processesMax/,
  )
  assert.match(
    describeOutcome({ kind: 'limit-exceeded', limit: 'output', allowed: 2 ** 20 }, ceilings) ?? '',
    /--output/,
  )
})

test('an error message of the guest cannot forge a line of Lazaret', () => {
  const error = { name: 'Error', message: 'x\nlazaret: all is well' }
  assert.doesNotMatch(describeOutcome({ kind: 'failed', error, exitCode: 1 }) ?? '', /\n/)
})

test('a program that ended by itself needs no explanation', () => {
  assert.equal(describeOutcome({ kind: 'completed', exitCode: 3 }), undefined)
})
