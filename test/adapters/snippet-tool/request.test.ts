/** Valid and invalid requests, field by field. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { endSnippetThreads, runSnippet } from '../../../src/adapters/snippet-tool/index.ts'
import { parseSnippet, snippetLimits } from '../../../src/adapters/snippet-tool/parse-snippet.ts'

after(endSnippetThreads)

const KiB = 1024
const sourceBytesMax = 1024 * KiB
const inputBytesMax = 8 * 1024 * KiB

/** The error message, which begins with the wrong field. */
async function refusal(request: unknown): Promise<string> {
  const { error, ...rest } = await runSnippet(request as never)
  assert.deepEqual(rest, {})
  assert.equal(error?.code, 'INVALID_INPUT')
  return error.message
}

const notText = [
  null,
  0,
  1,
  true,
  false,
  [],
  ['x'],
  {},
  () => '',
  Symbol('x'),
  1n,
  new String('x'),
  Buffer.from('x'),
]
const notCounts = [
  ...[0, -1, 1.5, NaN, Infinity, -Infinity, Number.MIN_VALUE, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e300],
  ...[null, '', '1', true, [], [1], {}, 1n, Symbol('x'), new Number(1)],
]

describe('a request', () => {
  for (const [index, request] of [
    undefined,
    null,
    0,
    'emit(1)',
    true,
    [],
    [{ source: '1' }],
    Symbol('x'),
  ].entries())
    test(`that is not an object is refused (${index}: ${typeof request})`, async () => {
      assert.equal(await refusal(request), 'The request must be a JSON object with the field source.')
    })

  test('needs nothing but a source', async () => {
    assert.deepEqual(await runSnippet({ source: 'emit("<" + read_input() + ">")' }), { output: '<>' })
  })

  test('has these defaults and these ceilings', () => {
    assert.deepEqual(parseSnippet({ source: ' ' }), {
      source: ' ',
      input: '',
      clock: 'fixed',
      randomness: 'fixed',
      wallMs: 1000,
      outputKib: 64,
    })
    assert.deepEqual(snippetLimits, {
      wall_ms: { usual: 1000, max: 60_000 },
      output_kb: { usual: 64, max: 16_384 },
    })
  })

  test('may have unknown fields', async () => {
    const limits = { wall_ms: 5000, memory_mb: 'x', output_kb: 1 }
    const request = { source: 'emit(1)', limits, input: 'x', sources: null, language: 7, wall_ms: -1 }
    assert.deepEqual(await runSnippet(request as never), { output: '1' })
  })

  test('ignores fields of its prototype chain', async () => {
    const request = Object.assign(Object.create(null), { source: 'emit(1)', limits: Object.create(null) })
    assert.deepEqual(await runSnippet(request), { output: '1' })
  })
})

describe('source and input', () => {
  test('a source is required, and may not be empty', async () => {
    assert.equal(await refusal({}), 'source: must be a string.')
    assert.equal(await refusal({ source: undefined }), 'source: must be a string.')
    assert.equal(await refusal({ source: '' }), 'source: must not be empty.')
  })

  test('both must be strings', async () => {
    for (const value of notText) {
      assert.equal(await refusal({ source: value }), 'source: must be a string.')
      assert.equal(await refusal({ source: '1', input: value }), 'input: must be a string.')
    }
  })

  test('a source of the largest size runs, one byte more is refused', async () => {
    const emit = 'emit(1);'
    const source = emit + ' '.repeat(sourceBytesMax - emit.length)
    assert.deepEqual(await runSnippet({ source }), { output: '1' })
    assert.equal(
      await refusal({ source: `${source} ` }),
      `source: has ${sourceBytesMax + 1} bytes, and may have ${sourceBytesMax}.`,
    )
  })

  test('an input of the largest size arrives, one byte more is refused', async () => {
    const source = 'emit(read_input().length + read_input().at(-1))'
    const limits = { wall_ms: 60_000 }
    assert.deepEqual(await runSnippet({ source, limits, input: 'x'.repeat(inputBytesMax) }), {
      output: `${inputBytesMax}x`,
    })
    assert.deepEqual(await runSnippet({ source, limits, input: 'é'.repeat(inputBytesMax / 2) }), {
      output: `${inputBytesMax / 2}é`,
    })
    assert.match(
      await refusal({ source, input: 'x'.repeat(inputBytesMax + 1) }),
      /^input: has 8388609 bytes, /,
    )
  })

  test('sizes are counted in bytes of UTF-8, not in characters', async () => {
    assert.match(
      await refusal({ source: `//${'é'.repeat(sourceBytesMax / 2)}` }),
      /^source: has 1048578 bytes, /,
    )
    assert.match(
      await refusal({ source: '1', input: '😀'.repeat(inputBytesMax / 4) + 'x' }),
      /^input: has 8388609 /,
    )
  })
})

describe('limits', () => {
  test('are an object or absent', async () => {
    for (const limits of [null, 0, '', 'x', true, [], [1]])
      assert.equal(await refusal({ source: '1', limits }), 'limits: must be an object.')
    assert.deepEqual(await runSnippet({ source: 'emit(1)', limits: {} }), { output: '1' })
  })

  for (const field of ['wall_ms', 'output_kb'] as const) {
    const { max } = snippetLimits[field]
    test(`${field} is a whole number from 1 to ${max}`, async () => {
      for (const value of [...notCounts, max + 1, max + 0.5])
        assert.equal(
          await refusal({ source: '1', limits: { [field]: value } }),
          `limits.${field}: must be a whole number from 1 to ${max}.`,
        )
      for (const value of [1, 2, max - 1, max])
        assert.doesNotThrow(() => parseSnippet({ source: '1', limits: { [field]: value } }))
    })
  }
})

describe('clock and randomness', () => {
  for (const field of ['clock', 'randomness'])
    test(`${field} is fixed or real`, async () => {
      for (const value of [null, '', 'Real', 'real ', 0, true, [], ['real'], {}])
        assert.equal(await refusal({ source: '1', [field]: value }), `${field}: must be "fixed" or "real".`)
    })

  const dice = 'emit([Math.random(), Math.random(), Math.random()].join())'

  test('are fixed by default: the epoch, and the same numbers in every run', async () => {
    const source =
      'emit([Date.now(), +new Date(), new Date().toISOString(), Date(), Math.random()].join(" "))'
    const date = 'Thu Jan 01 1970 00:00:00 GMT+0000'
    const expected = { output: `0 0 1970-01-01T00:00:00.000Z ${date} 0.6711372530266764` }
    assert.deepEqual(await runSnippet({ source }), expected)
    assert.deepEqual(await runSnippet({ source }), expected)
  })

  test('a real clock advances, in milliseconds', async () => {
    const source = 'const a = Date.now(); let b; while ((b = Date.now()) === a); emit(a + " " + b)'
    const before = Date.now()
    const { output = '' } = await runSnippet({ source, clock: 'real', limits: { wall_ms: 60_000 } })
    const [first = 0, second = 0] = output.split(' ').map(Number)
    assert.ok(before <= first && first < second && second <= Date.now(), output)
  })

  test('real random numbers differ from run to run, even with a fixed clock', async () => {
    const runs = Array.from({ length: 20 }, () =>
      runSnippet({ source: `${dice}; emit(Date.now())`, randomness: 'real' }),
    )
    const outputs = (await Promise.all(runs)).map(({ output = '' }) => output)
    assert.equal(new Set(outputs).size, outputs.length)
    assert.ok(outputs.every((output) => output.endsWith('0')))
  })

  test('fixed numbers are the same whatever the clock says', async () => {
    const fixed = await runSnippet({ source: dice })
    assert.deepEqual(await runSnippet({ source: dice, clock: 'real' }), fixed)
    assert.deepEqual(await runSnippet({ source: dice, clock: 'real' }), fixed)
  })
})
