/** The bare realm as a request of run(), and by workers that waited for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MessageRouter, SubprocessCodeExecutionActor } from '../../../src/adapters/actor/index.ts'
import { LazaretError } from '../../../src/index.ts'
import type { RunRequest } from '../../../src/index.ts'
import { isWarm } from '../../support/run-parked.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret, run } = await useLazaret({ pools: { bun: { max: 2 } } })
const bare = { language: 'javascript', realm: 'bare' } as const

test('every kind of input reaches a bare realm', async () => {
  const input = { list: [1n, new Date(0)], map: new Map([['a', new Uint8Array([1, 2, 255])]]), text: 'ü€😀' }
  const { value, outcome } = await run({ ...bare, input, code: 'input' })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
  assert.deepEqual(value, input)
})

test('values are returned as from an ordinary realm, including bytes of every length', async () => {
  const code = `[0, 1, 2, 3, 4, 300].map((length) => Uint8Array.from({ length }, (_, index) => index * 7))
    .concat([new Float32Array([1.5]), new Map([[{ a: 1 }, new Set(['x'])]]), /a/g, new RangeError('r').message, -0, NaN, 5n])`
  const [own, inside] = [
    await run({ language: 'javascript', runtime: 'bun', code }),
    await run({ ...bare, code }),
  ]
  assert.deepEqual(inside.valueTagged, own.valueTagged)
})

test('a value of exactly the limit is returned, whatever its characters, and one byte more is not', async () => {
  const code = (length: number) => `'€'.repeat(${length})`
  const limits = { resultBytes: 302 }
  assert.equal((await run({ ...bare, limits, code: code(100) })).value, '€'.repeat(100))
  assert.deepEqual((await run({ ...bare, limits, code: code(101) })).truncated, ['value'])
})

test('a parked worker gives the same results as a newly started one', async () => {
  const actor = new SubprocessCodeExecutionActor(new MessageRouter(), 20_000, { lazaret })
  const codes = {
    'await 5': { result: 5 },
    'var a = 1; for (var i = 0; i < 3; i++) a += i; a': { result: 4 },
    'const [a, b] = [1, 2]; a + b': { result: 3 },
    'let x = ;': { error: /^SyntaxError/ },
    '}': { error: /^SyntaxError/ },
    'await (': { error: /^SyntaxError/ },
    'import "a"; await 0': { error: /no modules/ },
    'throw new Error("x")': { error: /^x$/ },
  }
  for (const language of ['javascript', 'typescript'] as const) {
    for (const [code, expected] of Object.entries(codes)) {
      await lazaret.warmUp({ language, realm: 'bare' })
      const { payload, error } = await actor.receive({ type: 'execute', payload: { code, language } })
      if ('result' in expected)
        assert.equal(payload?.result, expected.result, `${language}: ${code}: ${error}`)
      else assert.match(error ?? '', expected.error, `${language}: ${code}`)
    }
  }
  await lazaret.warmUp({ language: 'typescript', realm: 'bare' })
  const decorated = 'function mark(kind: any) { kind.marked = true }; @mark class A {}; (A as any).marked'
  const result = await run({ ...bare, language: 'typescript', code: decorated })
  assert.deepEqual([result.value, isWarm(result)], [true, true])
})

test('a worker of one realm serves no run of the other', async () => {
  await lazaret.warmUp({ ...bare })
  const own = await run({ language: 'javascript', runtime: 'bun', code: 'typeof process' })
  assert.equal(own.value, 'object')
  await lazaret.warmUp({ language: 'javascript', runtime: 'bun' })
  assert.equal((await run({ ...bare, code: 'typeof process' })).value, 'undefined')
})

const refused: Readonly<Record<string, Partial<RunRequest>>> = {
  'Node, where it would hide nothing': { runtime: 'node' },
  'another language': { language: 'python', runtime: 'python' },
  'functions of the host': { functions: { f: () => 1 } },
  'a realm that does not exist': { realm: 'empty' as never },
}
for (const [name, part] of Object.entries(refused)) {
  test(`a bare realm is refused with ${name}`, async () => {
    await assert.rejects(
      lazaret.run({ ...bare, code: '1', ...part }),
      (error) =>
        error instanceof LazaretError &&
        error.code === 'INVALID_REQUEST' &&
        /realm|functions/.test(error.message),
    )
  })
}
