/** Runs of the runtime `isolate`. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { RunRequest } from '../../../src/index.ts'
import { createLazaret } from '../../support/create-lazaret.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret } = await useLazaret({ pools: { isolate: { max: 2 } } })

const run = (code: string, more: Partial<RunRequest> = {}) =>
  lazaret.run({ code, language: 'javascript', runtime: 'isolate', ...more })
const kindOf = async (code: string, more: Partial<RunRequest> = {}) => (await run(code, more)).outcome.kind

test('the value is the awaited completion value', async () => {
  assert.equal((await run('1; 2 + 3')).value, 5)
  assert.equal((await run('await Promise.resolve(6)')).value, 6)
  assert.equal((await run('const a = await 7; a + 1')).value, 8)
})

test('TypeScript runs', async () => {
  const code = 'enum A { B = 4 }\nconst value: number = A.B\nvalue'
  assert.equal((await run(code, { language: 'typescript' })).value, 4)
})

test('input and values can have all supported types', async () => {
  const input = {
    date: new Date(0),
    map: new Map([[1, { a: 2n }]]),
    set: new Set(['x']),
    bytes: new Uint8Array([1, 2]),
  }
  assert.deepEqual((await run('input', { input })).value, input)
  assert.equal((await run('input.date instanceof Date && input.map.get(1).a === 2n', { input })).value, true)
})

test('host functions are globals', async () => {
  const functions = { add: (a: unknown, b: unknown) => Number(a) + Number(b), when: () => new Date(5) }
  assert.deepEqual((await run('[await add(1, 2), await when()]', { functions })).value, [3, new Date(5)])
})

test('libraries can be required', async () => {
  assert.deepEqual((await run("require('lodash').chunk([1, 2, 3], 2)")).value, [[1, 2], [3]])
})

test('an error names its line', async () => {
  const { outcome } = await run('const a = 1\nnull.b\n')
  assert.equal(outcome.kind, 'failed')
  if (outcome.kind === 'failed') assert.match(outcome.error.stack ?? '', /<code>:2:/)
})

test('each end has its outcome', async () => {
  assert.equal(await kindOf('for (;;);', { limits: { wallMs: 100 } }), 'timed-out')
  assert.equal(await kindOf('new ArrayBuffer(500e6)'), 'out-of-memory')
  assert.equal(await kindOf("require('fs')"), 'denied')
  assert.equal(await kindOf('foo('), 'syntax-error')
  assert.equal(await kindOf('throw new Error("x")'), 'failed')
  assert.equal(await kindOf('for (;;);', { signal: AbortSignal.timeout(100) }), 'cancelled')
  assert.equal(await kindOf('1'), 'completed')
})

test('the receipt says which layers were applied and what limits the memory', async () => {
  const { receipt } = await run('1')
  assert.ok(receipt.layers.length > 3)
  assert.equal(receipt.limits.memoryBytes.by, 'isolate')
})

test('fields that need a process are refused', async () => {
  const refused: readonly Partial<RunRequest>[] = [
    { args: ['a'] },
    { stdin: 'a' },
    { files: { a: 'b' } },
    { collect: ['*'] },
    { env: { A: 'b' } },
    { language: 'python' },
  ]
  for (const more of refused)
    await assert.rejects(run('1', more), { code: 'INVALID_REQUEST' }, JSON.stringify(more))
})

test('workers that are warmed up serve the first runs', async () => {
  await lazaret.warmUp({ language: 'javascript', runtime: 'isolate', count: 1 })
  assert.equal((await run('1')).receipt.start, 'parked')
})

test('nothing of a run is visible to the next', async () => {
  await run('globalThis.left = 1; Object.prototype.left = 2')
  assert.deepEqual((await run('[typeof left, ({}).left === undefined]')).value, ['undefined', true])
})

test('two clients never share a worker, and a client keeps its worker', async () => {
  const starts: string[] = []
  for (const client of ['a', 'a', 'b', 'b', 'c', 'c']) starts.push((await run('1', { client })).receipt.start)
  // At most two workers exist at a time: a's ends to make room for c's.
  assert.deepEqual(starts, ['cold', 'parked', 'cold', 'parked', 'cold', 'parked'])
})

test('a pool without workers reports that it is turned off', async () => {
  await using off = createLazaret({ pools: { isolate: { max: 0 } } })
  await assert.rejects(off.run({ language: 'javascript', runtime: 'isolate', code: '1' }), {
    code: 'RUNTIME_UNAVAILABLE',
    message: /switched it off/,
  })
})
