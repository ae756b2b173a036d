/** What a program of the service finds, and what happens to what it leaves behind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { useService } from './use-service.ts'

const { execute, outputOf, errorOf } = useService()

test('input is a copy of inputData', async () => {
  const inputData = { list: [1, 2] }
  assert.deepEqual(await outputOf('input.list.push(3); output = input', { inputData }), { list: [1, 2, 3] })
  assert.deepEqual(inputData, { list: [1, 2] })
})

test('absent inputData is undefined and usable', async () => {
  assert.equal(await outputOf('output = typeof input + (input === undefined)'), 'undefinedtrue')
  assert.equal(await outputOf('output = input === null', { inputData: null }), true)
})

test('a program that assigns nothing succeeds without output', async () => {
  const result = await execute('1 + 1')
  assert.equal(result.success, true)
  assert.deepEqual(Object.keys(result).sort(), ['executionTimeMs', 'success'])
})

test('an early return keeps what was assigned', async () => {
  assert.equal(await outputOf('output = 1; return 5; output = 2'), 1)
})

test('an assignment after an await counts', async () => {
  assert.equal(await outputOf('await null; output = await Promise.resolve(7)'), 7)
  assert.equal(await outputOf('output = 1; await (async () => { await 0; output = 2 })()'), 2)
})

test('an assignment by an unawaited job after the end does not count', async () => {
  assert.equal(
    await outputOf('output = 1; Promise.resolve().then(() => 0).then(() => 0).then(() => { output = 2 })'),
    1,
  )
})

test('an unhandled rejection is a runtime error', async () => {
  const code = 'output = 1; Promise.reject(new TypeError("nobody cares"))'
  assert.match(await errorOf('RUNTIME_ERROR', code), /nobody cares/)
})

test('a promise that can no longer settle is a runtime error, at once', async () => {
  assert.match(await errorOf('RUNTIME_ERROR', 'await new Promise(() => {})'), /promise/)
})

test('programs run in sloppy mode', async () => {
  assert.equal(await outputOf('leaked = 5; output = leaked + 010'), 13)
})

test('declaring `output` is an error that says how to set it', async () => {
  const error = await errorOf('SYNTAX_ERROR', 'const output = 1')
  assert.match(error, /Identifier 'output' has already been declared.*assign to it without const/)
})

test('nothing carries over from one program to the next', async () => {
  await outputOf(`globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3
    const _ = require('lodash'); _.left = 4; Math.max = () => 5; JSON.stringify = () => '6'`)
  const code = `const _ = require('lodash')
    output = [typeof left, [].left, ({}).left, _.left, Math.max(1), JSON.stringify(1)].map(String)`
  for (let round = 0; round < 4; round++)
    assert.deepEqual(await outputOf(code), ['undefined', 'undefined', 'undefined', 'undefined', '1', '1'])
})

test('each method of the console has its label', async () => {
  const code =
    "console.log('a'); console.error('b'); console.warn('c'); console.info('d'); console.debug('e')"
  const { logs } = await execute(code)
  assert.deepEqual(logs, ['[LOG] a', '[ERROR] b', '[WARN] c', '[INFO] d', '[DEBUG] e'])
})

test('any value can be logged', async () => {
  const code = `const cycle = {}; cycle.self = cycle
    for (const value of [{ a: 1 }, [1, 2], new Error('bad'), new Date(0), Symbol('s'), () => 1, cycle, 5n, null,
      undefined, Object.create(null), new Proxy({}, { get() { throw 1 } })]) console.log(value)`
  const { success, logs = [] } = await execute(code)
  assert.equal(success, true)
  assert.equal(logs.length, 12)
  assert.ok(logs.every((line) => line.startsWith('[LOG] ')))
})

test('logs are present on failure and on timeout', async () => {
  const failed = await execute("console.log('before'); null.x")
  assert.deepEqual([failed.errorType, failed.logs], ['RUNTIME_ERROR', ['[LOG] before']])
  const late = await execute("console.log('before'); for (;;);", { timeoutSeconds: 0.1 })
  assert.deepEqual([late.errorType, late.logs], ['TIMEOUT', ['[LOG] before']])
  const full = await execute("console.log('before'); new ArrayBuffer(500e6)")
  assert.deepEqual([full.errorType, full.logs], ['MEMORY_LIMIT', ['[LOG] before']])
})

test('output is written as data', async () => {
  const code = `class Point { constructor() { this.x = 1 } }
    output = { date: new Date(0), nan: NaN, inf: -Infinity, none: undefined, map: new Map([['a', { b: 1 }]]),
      set: new Set([1, 2]), big: 12345678901234567890n, pattern: /a+/gi, error: new RangeError('no'),
      bytes: new Uint8Array([1, 255]), proxy: new Proxy({ seen: 1 }, {}), point: new Point(), list: [undefined, 1] }`
  assert.deepEqual(await outputOf(code), {
    date: '1970-01-01T00:00:00.000Z',
    nan: null,
    inf: null,
    map: [['a', { b: 1 }]],
    set: [1, 2],
    big: '12345678901234567890',
    pattern: '/a+/gi',
    error: 'RangeError: no',
    bytes: [1, 255],
    proxy: { seen: 1 },
    point: { x: 1 },
    list: [null, 1],
  })
})

test('tags of another encoding are plain data', async () => {
  const data = { $type: 'date', value: 5 }
  assert.deepEqual(await outputOf('output = input', { inputData: data }), data)
})

test('cycles, functions and symbols in the output are errors with the path', async () => {
  assert.match(await errorOf('RUNTIME_ERROR', 'output = { a: { b() {} } }'), /output\.a\.b is a function/)
  assert.match(await errorOf('RUNTIME_ERROR', 'output = [1, Symbol()]'), /output\[1\] is a symbol/)
  const cycle = await errorOf('RUNTIME_ERROR', 'const a = {}; a.me = { a }; output = a')
  assert.match(cycle, /output\.me\.a/)
})

test('TypeScript is stripped', async () => {
  const code = 'interface A { n: number }\nconst a: A = { n: 2 }\noutput = (a as A).n satisfies number'
  assert.equal(await outputOf(code, { language: 'typescript' }), 2)
})

test('output above the limit is an error that says so', async () => {
  assert.match(await errorOf('RUNTIME_ERROR', 'output = "x".repeat(2e7)'), /larger than/)
})
