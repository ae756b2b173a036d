/** A program has the same scope, whether the harness runs it as a block, a function or a plain script. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { bun, node, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const values: [string, unknown][] = [
  ['function f() { return 1 }\nfunction f() { return 2 }\nf()', 2],
  ['var f; function f() { return 3 } f()', 3],
  ['function f() {} var f = 3; f', 3],
  ['var x = 5; if (x > 3) { x * 2 }', 10],
  ['var own = 1; typeof globalThis.own', 'undefined'],
  ['function own() {} typeof globalThis.own', 'undefined'],
  ['this === globalThis', true],
  ['var x = 1; this === globalThis', true],
  ['f(); function f() { return 1 }', 1],
  ['let a = 0, b = 1; for (let i = 0; i < 10; i++) { [a, b] = [b, a + b] } a', 55],
  ['// nothing but a comment', undefined],
  ['`var`.length', 3],
]

const mistakes: [string, number][] = [
  ['}{', 1],
  ['const x = 1 }\n{ console.log("ran"); 5', 1],
  ['new/**/.target', 1],
  ['1\nsuper.x', 2],
  ['1\nreturn 5', 2],
  ['let a = ;', 1],
  ['var a = ;', 1],
]

for (const [name, engine] of Object.entries({ bun, node })) {
  describe(`Programs in ${name}`, () => {
    for (const [code, expected] of values) {
      test(`have the value that the language gives them: ${code}`, async () => {
        const { outcome, value } = await guests.run({ ...engine, code })
        assert.deepEqual([outcome, value], [{ kind: 'completed', exitCode: 0 }, expected])
      })
    }

    for (const [code, line] of mistakes) {
      test(`that do not compile are syntax errors, and nothing of them runs: ${code}`, async () => {
        const { outcome, stdout } = await guests.run({ ...engine, code })
        assert.equal(outcome.kind, 'syntax-error')
        assert.ok('error' in outcome && outcome.error.line === line, JSON.stringify(outcome))
        assert.equal(stdout, '')
      })
    }

    test('fail at the original line, also if `var` turns them into functions', async () => {
      const { outcome } = await guests.run({ ...engine, code: 'var x = null\nx.foo' })
      assert.ok('error' in outcome && outcome.error.line === 2, JSON.stringify(outcome))
    })
  })
}
