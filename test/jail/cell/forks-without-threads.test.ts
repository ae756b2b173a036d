/**
 * A fork has no threads at first. Nothing waits for them forever: neither reading the request nor the program, whatever
 * it needs them for, and no wakeup of the event loop is lost.
 */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import type { LazaretEvent, RunRequest } from '../../../src/index.ts'
import { bun, node, python, useLazaret } from '../../support/use-lazaret.ts'

const events: LazaretEvent[] = []
const { lazaret, level, run } = await useLazaret({
  pools: { bun: {}, node: {}, python: {} },
  onEvent: (event) => events.push(event),
})
const canFork = level !== 'restricted' && process.arch === 'x64'
const skip = !canFork && 'behind namespaces, on x64'
/** A run that hangs ends there; any other is done within a second, or ten on a slow machine. */
const wallMs = 60_000

after(() => {
  assert.deepEqual(
    events.filter(({ type }) => type === 'zygote-failing'),
    [],
  )
})

type Engine = typeof bun | typeof node | typeof python

/** The values of so many forks. Each completes. */
async function valuesOf(engine: Engine, request: Partial<RunRequest>, forks: number): Promise<unknown[]> {
  const values: unknown[] = []
  for (let number = 0; number < forks; number++) {
    await lazaret.warmUp(engine)
    const { receipt, outcome, value, stderr } = await run({
      ...engine,
      code: '',
      ...request,
      limits: { wallMs },
    })
    assert.deepEqual([receipt.start, outcome], ['forked', { kind: 'completed', exitCode: 0 }], stderr)
    values.push(value)
  }
  return values
}

const count = (lines: number, line: (index: number) => string): string =>
  Array.from({ length: lines }, (_, index) => line(index)).join('\n')

for (const engine of [bun, node, python])
  describe(`forks of ${engine.runtime}`, { skip }, () => {
    const isPython = engine.runtime === 'python'
    const assign = isPython ? '' : 'const '

    test('read large programs with characters beyond Latin-1', async () => {
      const line = (index: number) =>
        `${assign}message${index} = 'Größe ${index} überschritten: “${'x'.repeat(60)}” → ${index * 7919}'`
      const code = `${count(5000, line)}\n6 * 7`
      assert.deepEqual(await valuesOf(engine, { code }, 2), [42, 42])
    })

    test('read large programs of many small functions', async () => {
      const line = (index: number) =>
        isPython
          ? `def check${index}(value, kind='string', least=${index}):\n    return {'kind': kind, 'ok': len(value) > least}`
          : `function check${index}(value, { kind = 'string', least = ${index} } = {}) { return { kind, ok: value.length > least } }`
      const code = `${count(2500, line)}\ncheck7('12345678')['ok']`
      assert.deepEqual(await valuesOf(engine, { code }, 2), [true, true])
    })

    test('read large inputs', async () => {
      const input = Array.from({ length: 30_000 }, (_, index) => ({ index, text: `Größe → ${index}` }))
      const code = isPython ? 'input_data[29999]["text"]' : 'input[29999].text'
      assert.deepEqual(await valuesOf(engine, { code, input }, 1), ['Größe → 29999'])
    })
  })

for (const engine of [bun, node])
  describe(`event loops of forks of ${engine.runtime}`, { skip }, () => {
    /** If a wakeup is lost, the loop notices it only after the timer, or ends before it. */
    const settles = (promise: string) => `
      const timer = setTimeout(() => process.exit(1), ${wallMs})
      await ${promise}
      clearTimeout(timer)
      'settled'`

    const wasm =
      '[0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 10, 6, 1, 4, 0, 65, 42, 11]'
    for (const [name, promise] of [
      ['WebAssembly', `WebAssembly.compile(new Uint8Array(${wasm}))`],
      [
        'a wait for shared memory',
        'Atomics.waitAsync(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5).value',
      ],
      ['the thread pool', 'require("node:fs/promises").stat("/")'],
    ] as const)
      test(`wake up for ${name}`, async () => {
        assert.deepEqual(await valuesOf(engine, { code: settles(promise) }, 1), ['settled'])
      })
  })
