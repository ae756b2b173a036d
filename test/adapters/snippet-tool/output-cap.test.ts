/**
 * The cap on a program's output: it counts bytes of UTF-8 over all emits, cuts only between characters, and lets
 * nothing through afterwards.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import fc from '../../support/fast-check.ts'

import { endSnippetThreads, runSnippet, warmUpSnippets } from '../../../src/adapters/snippet-tool/index.ts'
import type { SnippetResult } from '../../../src/adapters/snippet-tool/index.ts'
import { createOutputBuffer, OutputWriter, readOutput } from '../../../src/runtimes/snippet/output-buffer.ts'

after(endSnippetThreads)

const KiB = 1024
const busyMs = 100
const overflow = { code: 'OUTPUT_LIMIT', message: 'output exceeded 1 KB' } as const

/**
 * A model of the cap: the output must fit after each emit, and an emit that does not fit is cut after a whole
 * character.
 */
function model(
  texts: readonly string[],
  capBytes: number,
): { readonly output: string; readonly isWhole: boolean } {
  let all = ''
  for (const text of texts) {
    all += text
    if (Buffer.byteLength(all) > capBytes)
      return { output: prefix(all.toWellFormed(), capBytes), isWhole: false }
  }
  return { output: all.toWellFormed(), isWhole: true }
}

function prefix(text: string, capBytes: number): string {
  let fitting = ''
  let bytes = 0
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > capBytes) break
    fitting += character
  }
  return fitting
}

/** Characters of one to four bytes, and surrogates that may or may not form a pair. */
const unit = fc.constantFrom(
  'a',
  '\0',
  '\n',
  'é',
  'ß',
  '€',
  '\uFEFF',
  '\u2028',
  '😀',
  '𝒳',
  '\uD83D',
  '\uDE00',
)
const piece = fc.oneof(
  unit,
  fc.array(unit, { maxLength: 12 }).map((units) => units.join('')),
  fc.tuple(unit, fc.integer({ min: 0, max: 700 })).map(([one, count]) => one.repeat(count)),
)
const pieces = fc.array(piece, { maxLength: 30 })
/** Texts of about a KiB. */
const nearTheCap = fc
  .tuple(fc.integer({ min: 1015, max: 1026 }), fc.array(unit, { maxLength: 8 }))
  .map(([count, units]) => ['a'.repeat(count), ...units])
/** A surrogate pair split between two emits, at every distance from the cap. */
const splitPair = fc
  .integer({ min: 1016, max: 1024 })
  .map((count) => ['a'.repeat(count), '\uD83D', '\uDE00', 'b'])

async function emitAll(texts: readonly string[]): Promise<SnippetResult> {
  const source = 'for (const text of JSON.parse(read_input())) emit(text)'
  return runSnippet({ source, input: JSON.stringify(texts), limits: { wall_ms: 30_000, output_kb: 1 } })
}

describe('the cap', () => {
  test('is the one of the model, whatever is emitted', async () => {
    const texts = fc.oneof(pieces, nearTheCap, splitPair)
    const property = fc.asyncProperty(fc.array(texts, { minLength: 1, maxLength: 4 }), async (lists) => {
      const results = await Promise.all(lists.map(emitAll))
      for (const [index, result] of results.entries()) {
        const { output, isWhole } = model(lists[index] ?? [], KiB)
        assert.deepEqual(result, isWhole ? { output } : { output, error: overflow })
      }
    })
    await fc.assert(property, { numRuns: 40 })
  })

  test('is the one of the model for buffers of every small size', () => {
    const property = fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.integer({ min: 0, max: 40 }),
      (texts, capBytes) => {
        const buffer = createOutputBuffer(capBytes)
        const writer = new OutputWriter(buffer)
        const isWhole = texts.every((text) => writer.append(text))
        if (isWhole) writer.finish()
        assert.deepEqual({ output: readOutput(buffer), isWhole }, model(texts, capBytes))
      },
    )
    fc.assert(property, { numRuns: 5000 })
  })

  test('accepts output of exactly its size, and not one byte more', async () => {
    for (const [character, size] of [
      ['a', 1],
      ['é', 2],
      ['😀', 4],
    ] as const) {
      const exact = character.repeat(KiB / size)
      assert.deepEqual(await emitAll([exact]), { output: exact })
      assert.deepEqual(await emitAll([exact, '']), { output: exact })
      assert.deepEqual(await emitAll([exact, 'a']), { output: exact, error: overflow })
    }
    assert.deepEqual(await emitAll(['€'.repeat(341), 'a']), { output: `${'€'.repeat(341)}a` })
    assert.deepEqual(await emitAll(['€'.repeat(342)]), { output: '€'.repeat(341), error: overflow })
  })

  test('may have its largest value', async () => {
    const limits = { wall_ms: 60_000, output_kb: 16_384 }
    const source = 'const part = "x".repeat(1024); for (let i = 0; i < Number(read_input()); i++) emit(part)'
    const whole = await runSnippet({ source, input: '16384', limits })
    assert.deepEqual([whole.output?.length, whole.error], [16_384 * KiB, undefined])
    const more = await runSnippet({ source: `${source}; emit("x")`, input: '16384', limits })
    assert.deepEqual([more.output?.length, more.error?.code], [16_384 * KiB, 'OUTPUT_LIMIT'])
  })

  test('holds a million small emits together', async () => {
    const source = 'for (let i = 0; i < 1e6; i++) emit("ab")'
    const limits = { wall_ms: 60_000, output_kb: 1024 }
    const { output, error } = await runSnippet({ source, limits })
    assert.deepEqual([output?.length, error?.code], [1024 * KiB, 'OUTPUT_LIMIT'])
  })
})

describe('after the cap a program executes nothing', () => {
  // It leaves room for one byte, which a program that continues would fill.
  const fill = 'emit("€".repeat(2000))'
  const programs = {
    catch: `try { ${fill} } catch { emit(1); for (;;); }`,
    finally: `try { ${fill} } finally { emit(1); for (;;); }`,
    'the next statement': `${fill}; emit(1); for (;;);`,
    'a generator that is closed': `function* g() { try { yield 1; ${fill}; yield 2 } finally { emit(1); for (;;); } } for (const x of g());`,
    'an iterator that is closed': `const it = { [Symbol.iterator]: () => it, next: () => (${fill}), return() { emit(1); for (;;); } }; const [a] = it; emit(1); for (;;);`,
    'a resource that is disposed': `{ using x = { [Symbol.dispose]() { emit(1); for (;;); } }; ${fill} }`,
    'a getter of what it throws': `throw { get message() { ${fill}; emit(1); for (;;); } }`,
    'a comparator': `[2, 1].sort(() => { try { ${fill} } catch {} emit(1); for (;;); })`,
    'a conversion in an emit': `emit({ toString() { try { ${fill} } finally { emit(1); for (;;); } } })`,
  }
  for (const [what, source] of Object.entries(programs))
    test(`not even ${what}`, async () => {
      await warmUpSnippets()
      const ended = runSnippet({ source, limits: { wall_ms: 30_000, output_kb: 1 } })
      await new Promise(setImmediate)
      // The host is busy while the program exceeds the cap, so a program that continues has time to show it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, busyMs)
      assert.deepEqual(await ended, { output: '€'.repeat(341), error: overflow })
    })

  test('the next program has its own thread', async () => {
    assert.deepEqual(await runSnippet({ source: 'emit(1)' }), { output: '1' })
  })
})
