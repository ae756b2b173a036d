/** What a model gets of a run: carefully shortened, and only real pictures as pictures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'
import { describeError, describeResult } from '../../../src/adapters/mcp/describe-result.ts'
import { fitsJson } from '../../../src/adapters/mcp/fits-json.ts'
import { Progress } from '../../../src/adapters/mcp/progress.ts'
import { findClient, parseTokens } from '../../../src/adapters/http/bearer-tokens.ts'
import { outputSchema } from '../../../src/adapters/mcp/tool-schemas.ts'
import { LazaretError } from '../../../src/core/errors/errors.ts'
import type { MimeBundle } from '../../../src/core/output.ts'
import type { RunData, RunResult } from '../../../src/core/result.ts'
import { clipEnd, clipText } from '../../../src/result/clip-text.ts'
import { findImage } from '../../../src/result/images.ts'
import { exampleResult } from '../../result/example-result.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'

const png = Buffer.from('\x89PNG\r\n\x1a\n…', 'latin1').toString('base64')

function textOf(parts: Partial<RunData>): string {
  const [first] = describeResult(exampleResult(parts)).content
  return first?.type === 'text' ? first.text : ''
}

test('a long text keeps its beginning and its end, cut at lines where there are some, and says what is missing', () => {
  assert.deepEqual(clipText('short', 5), { text: 'short', isClipped: false })
  const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}`).join('\n')
  const { text, isClipped } = clipText(lines, 200)
  assert.ok(isClipped && text.length < 260)
  const [head = '', tail = ''] = text.split(/\n\[… \d+ characters left out …\]\n/)
  assert.ok(lines.startsWith(`${head}\n`) && lines.endsWith(`\n${tail}`))
  const missing = Number(/(\d+) characters left out/.exec(text)?.[1])
  assert.equal(head.length + missing + tail.length, lines.length)
  // A cut never splits a character.
  for (const lengthMax of [50, 51, 52, 53]) {
    assert.ok(clipText('😀'.repeat(100), lengthMax).text.isWellFormed())
    assert.ok(clipEnd('😀'.repeat(100), lengthMax).isWellFormed())
  }
})

test('a value that is too long is shortened in the text and in the data, and both say so', () => {
  const long = {
    stdout: 'x'.repeat(1_000_000),
    valueTagged: 'y'.repeat(1_000_000),
    valueText: 'y'.repeat(1_000_000),
  }
  const { structuredContent, content } = describeResult(exampleResult(long))
  assert.ok(JSON.stringify(structuredContent).length < 45_000)
  assert.ok(JSON.stringify(content).length < 31_000)
  assert.deepEqual(outputSchema.parse(structuredContent).truncated, ['stdout', 'value'])
  assert.match(textOf(long), /characters left out[^]*characters left out/)
  assert.match(
    textOf({ truncated: ['stdout', 'value'] }),
    /Incomplete: stdout, value\. Print less to see all of it\. Make the value smaller to get all of it\.$/,
  )
})

test('a huge value does not block the event loop, and one that fits exactly is complete', async () => {
  const valueTagged = '\ud800'.repeat(12_000_000)
  await keepLoopFree('a long value', async () => describeResult(exampleResult({ valueTagged })))
  const lengths = fc.constantFrom('', '"', '\u0000', 'é', '\ud800')
  const anything = fc.jsonValue()
  fc.assert(
    fc.property(anything, lengths, fc.nat(40), (value, text, lengthMax) => {
      const one = [value, text]
      assert.equal(fitsJson(one, lengthMax), JSON.stringify(one).length <= lengthMax)
    }),
  )
})

test('large displays do not block the event loop, whether they are pictures or not', async () => {
  const made = Array.from({ length: 4000 }, () => ({ 'image/png': `iVBORw0KGg${'A'.repeat(4000)}` }))
  // Parsed, as displays arrive: V8 joins the parts of a made string only when it is read.
  const junk = JSON.parse(JSON.stringify(made)) as MimeBundle[]
  await keepLoopFree('no pictures', async () => [
    exampleResult({ displays: junk }).images,
    textOf({ displays: junk }),
  ])
  const wrapped = `${png.slice(0, 5)}\n${png.slice(5)}`
  assert.deepEqual(exampleResult({ displays: [{ 'image/png': wrapped }] }).images, [
    { mimeType: 'image/png', data: png },
  ])
})

test('each way to end is described, as data that fits its schema and as text', () => {
  const error = { name: 'TypeError', message: 'no', line: 3, column: 2, stack: 'at 3' }
  const cases: [RunResult['outcome'], string, boolean][] = [
    [{ kind: 'completed', exitCode: 0 }, 'The program succeeded and printed nothing.', false],
    [{ kind: 'completed', exitCode: 3 }, 'The program ended with exit code 3.', true],
    [{ kind: 'failed', exitCode: 1, error }, 'failed: TypeError: no (line 3)', true],
    [{ kind: 'syntax-error', error }, 'syntax-error: TypeError: no (line 3)', true],
    [
      { kind: 'timed-out', limit: 'wall', limitMs: 5 },
      'The program timed out after 5ms. Do less work at a time, or ask for a longer timeout.',
      true,
    ],
    [{ kind: 'killed', signal: 'SIGSEGV' }, 'The program ended by the signal SIGSEGV.', true],
    [{ kind: 'cancelled' }, 'The program was cancelled.', true],
  ]
  for (const [outcome, text, isError] of cases) {
    const described = describeResult(exampleResult({ outcome }))
    assert.equal(textOf({ outcome }), text)
    assert.equal(described.isError ?? false, isError)
    assert.equal(outputSchema.parse(described.structuredContent).outcome, outcome.kind)
  }
})

test('a refusal says what to do and when', () => {
  const refused = describeError(new LazaretError('RATE_LIMITED', { retryAfterMs: 1500 }))
  assert.equal(refused.isError, true)
  assert.equal(outputSchema.parse(refused.structuredContent).outcome, 'refused')
  assert.deepEqual(refused.content, [
    {
      type: 'text',
      text: 'refused: RATE_LIMITED: Rate limit exceeded. Try again in 2 s.\nTry again after `retryAfterMs`.',
    },
  ])
})

test('only data with the signature of a picture is a picture; other displays are text', () => {
  assert.deepEqual(findImage({ 'text/plain': 'a', 'image/png': `${png.slice(0, 8)}\n${png.slice(8)}` }), {
    mimeType: 'image/png',
    data: png,
  })
  for (const forged of ['', 'no', Buffer.from('<html>').toString('base64')])
    assert.equal(findImage({ 'image/png': forged }), undefined)
  const { content } = describeResult(
    exampleResult({ displays: [{ 'image/png': png }, { 'image/png': 'no', 'text/plain': 'a table' }] }),
  )
  assert.deepEqual(content, [
    { type: 'text', text: 'display: a table' },
    { type: 'image', mimeType: 'image/png', data: png },
  ])
})

test('a result reports omitted pictures', () => {
  const displays = Array.from({ length: 20 }, () => ({ 'image/png': png }))
  const { content, structuredContent } = describeResult(exampleResult({ displays }))
  assert.equal(content.filter(({ type }) => type === 'image').length, 8)
  assert.deepEqual(outputSchema.parse(structuredContent).truncated, ['displays'])
})

test('output that is printed letter by letter is sent a few times a second, complete and in order', async () => {
  let now = 0
  const timers: (() => void)[] = []
  const sent: [number, string][] = []
  const progress = new Progress(
    (length, message) => {
      sent.push([length, message])
      return Promise.resolve()
    },
    {
      now: () => now,
      timestamp: () => '',
      after: (_ms, callback) => {
        timers.push(callback)
        return () => undefined
      },
      every: () => () => undefined,
      id: () => '',
    },
  )
  for (const letter of 'abc') await progress.push(letter)
  assert.deepEqual(sent, [[1, 'a']])
  now = 50
  timers[0]?.()
  await progress.push('d')
  await progress.push('x'.repeat(64 * 1024))
  await progress.push('e')
  await progress.end()
  assert.deepEqual(
    sent.map(([, message]) => message.length),
    [1, 2, 64 * 1024 + 1, 1],
  )
  assert.deepEqual(
    sent.map(([length]) => length),
    [1, 3, 64 * 1024 + 4, 64 * 1024 + 5],
  )
})

test('a file of tokens names the clients that may connect, and an error in it is reported without the token', () => {
  const entries = parseTokens('# people\nada:0123456789abcdef\r\n\nbob:fedcba98:7654321\n')
  assert.equal(findClient(entries, 'Bearer 0123456789abcdef'), 'ada')
  assert.equal(findClient(entries, 'bearer fedcba98:7654321'), 'bob')
  for (const header of [undefined, '', 'Bearer ', 'Bearer 0123456789abcde', '0123456789abcdef'])
    assert.equal(findClient(entries, header), undefined)
  for (const [text, problem] of [
    ['', /no tokens/],
    ['ada', /line 1 is not name:token/],
    ['\nada:secret', /line 2 has fewer than 16/],
    ['a:0123456789abcdef\nb:0123456789abcdef', /twice/],
  ] as const)
    assert.throws(
      () => parseTokens(text),
      (error: Error) => problem.test(error.message) && !error.message.includes('secret'),
    )
})
