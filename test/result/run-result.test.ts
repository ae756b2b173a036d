/** The text of a result for a language model: short, complete if it fits, each fact once, and what to do next. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'
import { LazaretError } from '../../src/core/errors/errors.ts'
import { missingReasons } from '../../src/core/missing-files.ts'
import type { NetworkReport } from '../../src/core/network.ts'
import type { RunData } from '../../src/core/result.ts'
import type { TextData } from '../../src/result/to-text.ts'
import { exampleResult } from './example-result.ts'

/** One pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const refusedBy = (refused: NetworkReport['refused']) => ({
  receipt: {
    ...exampleResult().receipt,
    network: { hosts: [], refused, unlisted: 0, wouldAllow: [] },
  },
})

const tryAgain = 'OSError: [Errno -3] Temporary failure in name resolution'
const without = (layers: readonly string[], exitCode: number) => ({
  stderr: `${tryAgain}\n`,
  outcome: { kind: 'completed' as const, exitCode },
  receipt: { ...exampleResult().receipt, layers } as RunData['receipt'],
})

const texts: readonly (readonly [string, Partial<TextData>, string])[] = [
  ['nothing', {}, 'The program succeeded and printed nothing.'],
  ['a value', { valueText: '42' }, 'value: 42'],
  ['output and a value', { stdout: 'a\nb\n', valueText: '42' }, 'stdout:\na\nb\n\nvalue: 42'],
  ['JavaScript without a value', { stdout: 'a', valueText: 'undefined' }, 'stdout: a'],
  [
    'JavaScript without a value and output',
    { valueText: 'undefined' },
    'The program succeeded and printed nothing.',
  ],
  ['a text that says undefined', { value: 'undefined', valueText: "'undefined'" }, "value: 'undefined'"],
  ['an exit code', { outcome: { kind: 'completed', exitCode: 3 } }, 'The program ended with exit code 3.'],
  [
    'an error that stderr has already',
    {
      stderr: 'Traceback …\nValueError: bad\n',
      outcome: { kind: 'failed', exitCode: 1, error: { name: 'ValueError', message: 'bad', line: 2 } },
    },
    'stderr:\nTraceback …\nValueError: bad\n\nfailed: see stderr (line 2)',
  ],
  [
    'an error that is nowhere else',
    { outcome: { kind: 'failed', exitCode: 1, error: { name: 'TypeError', message: 'no', line: 3 } } },
    'failed: TypeError: no (line 3)',
  ],
  [
    'a limit',
    { stdout: 'x\n', outcome: { kind: 'out-of-memory', limitBytes: 64 * 1024 * 1024 } },
    'stdout: x\n\nThe program used more than 64 MiB of memory. Work on smaller pieces, or ask for more memory.',
  ],
  [
    'output that the host has cut',
    { stdout: 'x', truncated: ['stdout'] },
    'stdout: x\n\nIncomplete: stdout. Print less to see all of it.',
  ],
  [
    'a file that did not fit',
    {
      stdout: 'x',
      truncated: ['files'],
      missingFiles: [{ reason: 'size', count: 2, paths: ['a', 'b'] }],
    },
    'stdout: x\n\nIncomplete: files. "a" and "b" do not fit into resultBytes. Write smaller files to get all of them.',
  ],
  [
    'a value and a file that did not fit',
    {
      stdout: 'x',
      truncated: ['value', 'files'],
      missingFiles: [{ reason: 'size', count: 1, paths: ['a'] }],
    },
    'stdout: x\n\nIncomplete: value, files. Make the value smaller to get all of it. "a" does not fit into resultBytes. Write smaller files to get all of them.',
  ],
  [
    'files with misleading names that could not be read',
    {
      stdout: 'x',
      truncated: ['files'],
      missingFiles: [
        { reason: 'permission', count: 5, paths: ['a"\n\nstdout: b', '\u202eb', 'c'.repeat(300), 'd'] },
        { reason: 'kind', count: 1, paths: ['pipe'] },
        { reason: 'time', count: 0, paths: [] },
      ],
    },
    `stdout: x\n\nIncomplete: files. "a\\"\\n\\nstdout: b", "\\u{202e}b", "${'c'.repeat(200)}"… and 2 more are not readable. "pipe" is not a regular file. Files were not collected in time. Give files and their folders read permission. Copy what links lead to into files. Write fewer files, or collect from fewer folders.`,
  ],
  [
    'a file that was not fetched because the program was cancelled',
    { outcome: { kind: 'cancelled' }, truncated: ['files'] },
    'The program was cancelled.\n\nIncomplete: files.',
  ],
  [
    'a table that is the value and therefore displayed too',
    {
      valueText: '   a\n0  1',
      displays: [{ 'text/plain': '   a\n0  1', 'text/html': '<table>' }, { 'text/plain': 'b' }],
    },
    'value:\n   a\n0  1\n\ndisplay: b',
  ],
  [
    'what an isolate refuses',
    { outcome: { kind: 'denied', what: "Security Error: Module 'fs' is not allowed" } },
    "The program was denied: Security Error: Module 'fs' is not allowed.",
  ],
  [
    'a display in a format that no model reads',
    { displays: [{ 'application/vnd.plotly.v1+json': '{}' }] },
    'display: [application/vnd.plotly.v1+json]',
  ],
  ['a picture and nothing else', { displays: [{ 'image/png': png }] }, 'The program displayed 1 picture.'],
  [
    'pictures and nothing else',
    { displays: [{ 'image/png': png }, { 'image/png': png, 'text/plain': 'a plot' }] },
    'The program displayed 2 pictures.',
  ],
  [
    'pictures beside a text',
    { displays: [{ 'image/png': png }, { 'text/plain': 'a table' }] },
    'display: a table',
  ],
  [
    'a refusal of the network policy, although the program succeeded,',
    {
      stdout: 'try again later\n',
      ...refusedBy([{ host: 'evil.example', reason: 'not-allowed', count: 1 }]),
    },
    'stdout: try again later\n\nThe network policy refused evil.example (not-allowed).',
  ],
  ['a network policy that refused nothing', refusedBy([]), 'The program succeeded and printed nothing.'],
  [
    'a failure that a port without a rule explains',
    { stderr: 'ECONNREFUSED', outcome: { kind: 'completed', exitCode: 1 }, ...refusedBy([]) },
    'stderr: ECONNREFUSED\n\nThe program ended with exit code 1.\n\nThe network policy refuses connections to ports that none of its rules names. A rule without a port names 80 and 443.',
  ],
  [
    'the same where the program succeeded',
    { stderr: 'ECONNREFUSED', ...refusedBy([]) },
    'stderr: ECONNREFUSED',
  ],
  [
    'what the next code of a context finds',
    { outcome: { kind: 'timed-out', limit: 'wall', limitMs: 5 }, note: 'Variables are still there.' },
    'The program timed out after 5ms. Do less work at a time, or ask for a longer timeout.\n\nVariables are still there.',
  ],
  [
    'a failure for want of a network',
    without(['network-namespace'], 1),
    `stderr: ${tryAgain}\n\nThe program ended with exit code 1.\n\nThe program has no network (\`network: 'none'\`), so it can reach no other machine.`,
  ],
  ['the same where the program succeeded', without(['network-namespace'], 0), `stderr: ${tryAgain}`],
  [
    "the same in the host's network",
    without([], 1),
    `stderr: ${tryAgain}\n\nThe program ended with exit code 1.`,
  ],
  ['a blank display', { displays: [{ 'text/plain': ' \n' }] }, 'The program succeeded and printed nothing.'],
  ['blank output', { stdout: '\n\n', valueText: ' ' }, 'The program succeeded and printed nothing.'],
]

for (const [what, parts, text] of texts)
  test(`${what} as text`, () => {
    assert.equal(exampleResult(parts).toText(), text)
  })

test('the text is not longer than requested even if each part is cut and incomplete', () => {
  const long = 'x'.repeat(20_000_000)
  const result = exampleResult({
    ...{ stdout: long, stderr: long, valueText: long, displays: [{ 'text/plain': long }] },
    truncated: ['stdout', 'stderr', 'logs', 'value', 'displays', 'files'],
    missingFiles: missingReasons.map((reason) => ({
      reason,
      count: 9,
      paths: Array(10).fill('x'.repeat(4000)),
    })),
    outcome: { kind: 'limit-exceeded', limit: 'processes', allowed: 1_000_000 },
  })
  for (const charsMax of [1000, 30_000]) assert.ok(result.toText({ charsMax }).length <= charsMax)
})

test('the text is never longer than requested, and complete if it fits', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3000 }),
    fc.array(fc.string(), { maxLength: 300 }).map((lines) => lines.join('\n')),
    fc.constantFrom('', 'x'.repeat(60_000), '😀\n'.repeat(3000)),
  )
  const parts = fc.record({ stdout: text, stderr: text, valueText: text, message: text })
  fc.assert(
    fc.property(
      parts,
      fc.nat(9),
      fc.integer({ min: 1000, max: 50_000 }),
      ({ message, ...streams }, hosts, charsMax) => {
        const error = { name: 'Error', message }
        const refused = Array.from({ length: hosts }, (_, at) => {
          return { host: `${at}${'x'.repeat(250)}`, port: 443, reason: 'not-allowed' as const, count: 1 }
        })
        const failed = exampleResult({
          ...streams,
          ...refusedBy(refused),
          outcome: { kind: 'failed', exitCode: 1, error },
          displays: [{ 'text/plain': 'a table' }],
          truncated: ['stdout', 'stderr', 'logs', 'value', 'displays', 'files'],
          note: 'n'.repeat(160),
        })
        const said = failed.toText({ charsMax })
        assert.ok(said.length <= charsMax, `${said.length} > ${charsMax}`)
        const { stdout, stderr, valueText } = streams
        if (stdout.length + stderr.length + valueText.length + message.length < charsMax / 2)
          for (const stream of [stdout, stderr, valueText]) assert.ok(said.includes(stream.trimEnd()))
      },
    ),
    { numRuns: 500 },
  )
})

test('an invalid length is refused', () => {
  for (const charsMax of [0, 999, 1.5, NaN, Infinity, '9' as unknown as number])
    assert.throws(
      () => exampleResult().toText({ charsMax }),
      (error) => error instanceof LazaretError && error.code === 'INVALID_REQUEST',
    )
})

test('ok is exit code 0 and nothing else; spreading a result gives its data', () => {
  assert.equal(exampleResult().ok, true)
  assert.equal(exampleResult({ outcome: { kind: 'completed', exitCode: 1 } }).ok, false)
  assert.equal(exampleResult({ outcome: { kind: 'cancelled' } }).ok, false)
  const data = { ...exampleResult({ stdout: 'x' }) }
  assert.equal(data.stdout, 'x')
  assert.deepEqual(
    Object.keys(data).filter((name) => ['ok', 'images', 'toText', 'toJSON'].includes(name)),
    [],
  )
})
