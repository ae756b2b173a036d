/** The text that a language model gets from a command of a sandbox. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { withText } from '../../src/result/command-text.ts'
import type { CommandTextData } from '../../src/result/command-text.ts'

const usual: CommandTextData = {
  outcome: { kind: 'completed', exitCode: 0 },
  stdout: '',
  stderr: '',
  truncated: [],
  touched: [],
  isolation: {},
}
const textOf = (data: Partial<CommandTextData>, charsMax?: number): string =>
  withText({ ...usual, ...data }).toText(charsMax === undefined ? undefined : { charsMax })

test('the text has what was printed and, if the command did not simply succeed, how it ended', () => {
  assert.equal(textOf({}), 'The command succeeded and printed nothing.')
  assert.equal(textOf({ stdout: 'one\n' }), 'stdout: one')
  assert.equal(textOf({ stdout: 'one\ntwo\n', stderr: 'odd\n' }), 'stdout:\none\ntwo\n\nstderr: odd')
  assert.equal(
    textOf({ stderr: 'ls: no such file\n', outcome: { kind: 'completed', exitCode: 2 } }),
    'stderr: ls: no such file\n\nThe command ended with exit code 2.',
  )
  assert.match(
    textOf({ outcome: { kind: 'timed-out', limit: 'wall', limitMs: 100 } }),
    /^The command timed out/,
  )
})

test('limits that it reached, output that was cut and the note of its isolation are said', () => {
  const text = textOf({
    stdout: 'built',
    truncated: ['stdout'],
    touched: [
      { limit: 'processesMax', allowed: 64 },
      { limit: 'outputBytes', allowed: 5 },
    ],
    isolation: { note: 'The sandbox has no network.' },
  })
  assert.equal(
    text,
    'stdout: built\n\nIt reached a limit: processesMax (64). Incomplete: stdout. Print less to see all of it.\n\nThe sandbox has no network.',
  )
})

test('long streams share the room, and keep their beginning and end', () => {
  const long = (name: string) => `${name} begins\n${'x'.repeat(100_000)}\n${name} ends`
  const both = textOf({ stdout: long('out'), stderr: long('err') }, 3000)
  assert.ok(both.length <= 3000)
  for (const said of ['out begins', 'out ends', 'err begins', 'err ends', 'left out'])
    assert.ok(both.includes(said), said)
  const short = textOf({ stdout: 'x'.repeat(2000), stderr: 'odd' }, 3000)
  assert.ok(!short.includes('left out'), 'what one stream does not need goes to the other')
  assert.throws(() => textOf({}, 10), { code: 'INVALID_REQUEST' })
})

test('only data is sent and compared', () => {
  const result = withText({ ...usual, stdout: 'data' })
  assert.deepEqual(JSON.parse(JSON.stringify(result)), { ...usual, stdout: 'data' })
  assert.deepEqual(Object.keys(result).toSorted(), Object.keys(usual).toSorted())
})
