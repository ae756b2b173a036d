import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeEngines } from './guest-process.ts'

// Each program is run unchanged, as a script, and after an `await`, as a function body that records its own value.
const programs: readonly (readonly [code: string, value: unknown])[] = [
  ['1 + 1', 2],
  ['let a = 5; a', 5],
  ['"a string"', 'a string'],
  ['const a = 1', undefined],
  ['3; const a = 1', 3],
  ['3; function f() { return 4 }', 3],
  ['3; class A {}', 3],
  ['3;;;', 3],
  ['{ a: 1 }', 1],
  ['({ a: 1 })', { a: 1 }],
  ['3; {}', 3],
  ['3; { 4; var b = 5 }', 4],
  ['if (true) { 5 } else { 6 }', 5],
  ['if (false) 5\nelse 6', 6],
  ['if (false) 5; else if (true) 6', 6],
  ['3; if (true) {}', undefined],
  ['3; if (false) 4', undefined],
  ['for (let i = 0; i < 3; i++) i * 2', 4],
  ['for (const x of [1, 2]) { x; if (x === 2) break }', undefined],
  ['for (const x of [1, 2]) { x; break }', 1],
  ['for (const key in { a: 1, b: 2 }) key', 'b'],
  ['3; for (const x of []) x', undefined],
  ['let i = 0; while (i < 3) i++', 2],
  ['let i = 0; do { i += 10; continue } while (i < 30)', 30],
  ['switch (2) { case 1: "a"; break; case 2: "b"; case 3: const c = 1; break; default: "d" }', 'b'],
  ['switch (9) { case 1: 1 }', undefined],
  ['try { 1 } catch { 2 }', 1],
  ['try { 1; throw 0 } catch { 2 }', 2],
  ['try { 1; throw 0 } catch {}', undefined],
  ['try { 1 } finally { 2 }', 1],
  ['do { try { 1 } finally { 2; break } } while (false)', 2],
  ['do { try { 1 } finally { break } } while (false)', undefined],
  ['try { try { 1 } finally { 2 } } finally { 3 }', 1],
  ['loop: for (;;) { for (;;) { 7; break loop } }', 7],
  ['outer: for (const x of [1, 2]) { for (const y of [1]) { x * 10; continue outer } }', 20],
  ['block: { 1; break block; 2 }', 1],
  ['let n = 1; n++\n;[n].length', 1],
  ['let n = 1\nn++\nn', 2],
  ['(1, 2) // a comment', 2],
  ['1 /* after */ ; // a comment', 1],
  ['(function () { return this })()', undefined],
  ['this === globalThis', true],
  ['() => 1; 6', 6],
  ['Promise.resolve(8)', 8],
  ['({ then(resolve) { resolve(9) } })', 9],
  ['', undefined],
  ['// only a comment', undefined],
]

describeEngines('The completion value', (run) => {
  for (const [code, value] of programs) {
    test(`of ${JSON.stringify(code)} is ${JSON.stringify(value)}`, async () => {
      const [asScript, asFunction] = await Promise.all([run(code), run(`await 0; void 0;\n${code}`)])
      assert.deepEqual(asScript.value, value)
      assert.deepEqual(asFunction.value, value)
      assert.equal(asScript.exitCode, 0, asScript.stderr)
      assert.equal(asFunction.exitCode, 0, asFunction.stderr)
    })
  }

  test('has a text, as the REPL prints it', async () => {
    const { valueText } = await run('({ a: [1, "two", new Map([[3, { b: { c: {} } }]])] })')
    assert.equal(valueText, "{ a: [ 1, 'two', Map(1) { 3 => [Object] } ] }")
  })

  test('of a string is quoted as the REPL does', async () => {
    assert.equal((await run(`"it's \\n"`)).valueText, `"it's \\n"`)
  })

  test('is sent before a timer that the program left behind fires', async () => {
    const { messages } = await run('setTimeout(() => console.log("later"), 1); 5')
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['value', 'log', 'end'],
    )
  })

  test('awaits promises at the top level', async () => {
    const { value } = await run(
      'const a = await Promise.resolve(3)\nlet b = 0\nfor await (const x of [a, 4]) b += x\nb',
    )
    assert.equal(value, 7)
  })
})
