/** Ways to exhaust memory: each is MEMORY_LIMIT, none takes long, and the next program runs. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import type { SlotEvent } from '../../../src/adapters/code-execution/index.ts'
import { useService } from './use-service.ts'

const events: SlotEvent[] = []
const { execute, outputOf, errorOf } = useService({ poolSize: 1, onEvent: (event) => events.push(event) })
/** On an idle machine each takes less than two seconds; here others may work. */
const timeoutSeconds = 60

const keep = (made: string): string => `const kept = []; for (let i = 0; ; i++) kept.push(${made})`

const bombs: Readonly<Record<string, string>> = {
  arrays: keep('[1, 2, 3, 4, 5, 6, 7, 8]'),
  'large arrays': keep('new Array(1e6).fill(i)'),
  'one filled array': 'Array(3e7).fill().map((_, i) => ({ i }))',
  strings: keep('("x" + i).repeat(1e5).toUpperCase()'),
  'padded strings': keep('"x".padStart(1e7, "y" + i).toUpperCase()'),
  'template strings':
    'let s = "x"; const kept = []; for (;;) { s = `${s}y`; kept.push(`${s.repeat(1e4)}`.toUpperCase()) }',
  'normalized strings': keep('"\\u1E9B\\u0323".repeat(1e6).normalize("NFKD")'),
  'a string that grows while it is normalized': '"\\uFDFA".repeat(2e7).normalize("NFKD").length',
  'one array buffer': 'new ArrayBuffer(500e6)',
  'array buffers': keep('new ArrayBuffer(10e6)'),
  'a buffer of a buffer': 'const a = new ArrayBuffer(60e6); const kept = []; for (;;) kept.push(a.slice(0))',
  'a transferred buffer': 'new ArrayBuffer(8).transfer(500e6)',
  'one typed array': 'new Uint8Array(500e6)',
  'one typed array of doubles': 'new Float64Array(100e6)',
  'a typed array of a list': 'Uint8Array.from({ length: 500e6 })',
  'copies of typed arrays':
    'const a = new Uint8Array(60e6); const kept = []; for (;;) kept.push(a.map((n) => n))',
  'sorted typed arrays':
    'const a = new Uint8Array(30e6); const kept = []; for (;;) kept.push(a.toReversed())',
  'a subclass of array buffers': 'class Big extends ArrayBuffer {}; new Big(500e6)',
  'a map': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })',
  'matches of a pattern': keep('[..."a".repeat(1e5).matchAll(/a/g)]'),
  'what a pattern replaces': keep('"ab".repeat(1e5 + i).replace(/a/g, "xyz")'),
  'big integers': keep('(1n << 1000000n) + BigInt(i)'),
  'texts of JSON': keep('JSON.stringify({ a: "x".repeat(1e6 + i) })'),
  'objects of JSON': keep('JSON.parse("[" + "{},".repeat(1e5) + "1]")'),
  closures: 'let f = () => 0; for (;;) { const g = f, x = new Array(100); f = () => g() + x.length }',
  promises: keep('new Promise(() => {})'),
  'microtasks that never end': 'const kept = []; for (;;) { await 0; kept.push(new Array(1000).fill(0)) }',
}

for (const [name, code] of Object.entries(bombs))
  test(`${name}: MEMORY_LIMIT, and the next program runs`, async () => {
    const text = 'Code execution exceeded memory limit of 128 MB'
    assert.equal(await errorOf('MEMORY_LIMIT', code, { timeoutSeconds }), text)
    assert.equal(await outputOf('output = 1'), 1)
  })

test('an allocation that the program survives is no failure', async () => {
  const code = 'try { new ArrayBuffer(500e6) } catch (error) { output = error.message } new Uint8Array(10)'
  assert.equal(await outputOf(code), 'Array buffer allocation failed')
})

test('only what the engine could not allocate counts as memory, whatever else says so', async () => {
  const text = "'Array buffer allocation failed'"
  for (const code of [
    `throw new RangeError(${text})`,
    `throw [${text}].map(RangeError)[0]`,
    `throw Reflect.construct(RangeError, [${text}])`,
    `class ArrayBuffer { constructor() { throw new RangeError(${text}) } }; new ArrayBuffer()`,
    `const e = new RangeError(${text}); Error.prepareStackTrace(e, [{ getLineNumber: () => null }]); throw e`,
    `const e = new RangeError(${text}); new Uint8Array({ length: 1, get 0() { throw e } })`,
  ])
    assert.match(await errorOf('RUNTIME_ERROR', code), /Array buffer allocation failed/)
})

test('an allocation that failed in a job that nobody waits for is MEMORY_LIMIT too', async () => {
  await errorOf(
    'MEMORY_LIMIT',
    'void (async () => { await 0; new ArrayBuffer(500e6) })(); await 0; await 0; await 0',
  )
})

test('a program may have more memory than others, and less', async () => {
  const code = 'output = new Array(5e6).fill(1.5).length'
  assert.equal(await outputOf(code, { memoryLimitMB: 256 }), 5e6)
  const { errorType, error } = await execute(code, { memoryLimitMB: 16 })
  assert.deepEqual([errorType, error], ['MEMORY_LIMIT', 'Code execution exceeded memory limit of 16 MB'])
})

after(() => {
  assert.deepEqual(
    events.filter(({ to }) => to === 'crashed' || to === 'disabled'),
    [],
    'what exhausts its memory is no crash of its worker',
  )
})
