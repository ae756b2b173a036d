import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeEngines } from './guest-process.ts'

const decorators = `
function log(target: any, key?: any, descriptor?: any): any { seen.push([typeof target, key, descriptor?.value ? 'method' : descriptor]) }
const seen: unknown[] = []
`

const programs: readonly (readonly [title: string, code: string, value: unknown])[] = [
  ['types vanish', 'const a: number = 1 as any; a satisfies number', 1],
  ['generics and angle-bracket casts', 'function id<T>(x: T): T { return x }\nid<string>(<string>"x")', 'x'],
  ['enums', 'enum E { A = 41 } E.A + 1', 42],
  ['enums map back', 'enum E { A, B } E[E.B]', 'B'],
  ['constant enums', 'const enum E { A = "x" } E.A', 'x'],
  [
    'namespaces',
    'namespace N { export const a = 1; export namespace M { export const b = a + 1 } } N.M.b',
    2,
  ],
  ['a namespace is no value', '7; namespace N { export const a = 1 }', 7],
  [
    'an exported namespace in two parts',
    'export namespace N { export const a = 1 }\nnamespace N { export const b = 2 }\n[N.a, N.b]',
    [1, 2],
  ],
  [
    'parameter properties',
    'class P { constructor(private readonly x: number, public y = 2) {} sum() { return this.x + this.y } }\nnew P(1).sum()',
    3,
  ],
  [
    'abstract classes and overloads',
    'abstract class A { abstract f(): number; g(x: string): void; g(x: any) { return x } }\nclass B extends A { f() { return 5 } }\nnew B().f()',
    5,
  ],
  [
    'optional and declared fields',
    'class A { declare a: number; b?: string; c!: number }\nObject.keys(new A())',
    ['b', 'c'],
  ],
  [
    'type-only imports',
    'import type { X } from "./none.ts"\nimport { type Y } from "./neither.ts"\nconst x: X | Y = 4\nx',
    4,
  ],
  ['imports that are used as types only', 'import { X } from "./none.ts"\nconst x: X = 4\nx', 4],
  ['import = require', 'import path = require("node:path")\npath.sep', '/'],
  ['export =', 'export = { a: 1 }; (module.exports as any).a', 1],
  ['decorators are no value', `${decorators}8; @log class A { @log m() {} }`, 8],
  [
    'decorators mean what experimentalDecorators means',
    `${decorators}class A { @log m() {} @log f = 1; @log get g() { return 1 } @log static s() {} }\nseen.map(([a, b]) => [a, b])`,
    [
      ['object', 'm'],
      ['object', 'f'],
      ['object', 'g'],
      ['function', 's'],
    ],
  ],
  [
    'class decorators may replace the class',
    'function wrap<T extends new (...a: any[]) => any>(Base: T) { return class extends Base { extra = 5 } }\n@wrap class A {}\n(new A() as any).extra',
    5,
  ],
  [
    'method decorators may replace the method, from the inside out',
    'const f = (n: number) => (t: any, k: string, d: PropertyDescriptor) => { const o = d.value; return { ...d, value: () => [n, ...o()] } }\nclass A { @f(1) @f(2) m() { return [] } }\nnew A().m()',
    [1, 2],
  ],
  [
    'parameter decorators get the index',
    'const seen: any[] = []\nfunction p(t: any, k: any, i: number) { seen.push([k, i]) }\nclass A { m(a: number, @p b: number) {} }\nseen',
    [['m', 1]],
  ],
  ['using at the top level', 'using x = { [Symbol.dispose]() {} }\n5', 5],
  ['top-level await', 'const a: number = await Promise.resolve(6)\na', 6],
  [
    'async functions without top-level await',
    'async function f(): Promise<number> { return await Promise.resolve(2) }\nf()',
    2,
  ],
  ['optional chaining with assertions', 'const a: { b?: { c: number } } = { b: { c: 3 } }\na.b!.c', 3],
]

describeEngines('TypeScript', (run) => {
  for (const [title, code, value] of programs) {
    test(`runs: ${title}`, async () => {
      const end = await run({ language: 'typescript', code })
      assert.equal(end.exitCode, 0, end.stderr)
      assert.deepEqual(end.value, value)
    })
  }

  test('a decorator in the standard form gets an error that says which meaning decorators have', async () => {
    const code = `function log(value: Function, context: ClassMethodDecoratorContext) {
  return function (this: unknown) { return 'replaced' }
}
class A {
  @log m() { return 'own' }
}
new A().m()`
    const { error, stderr } = await run({ language: 'typescript', code })
    assert.equal(error?.name, 'TypeError')
    assert.equal(
      error.message,
      "The decorator of 'm' returned a function. Decorators have TypeScript's experimentalDecorators meaning here: they are called with (target, key, descriptor), and return a property descriptor or nothing.",
    )
    assert.match(error.stack ?? '', /^TypeError: The decorator of 'm'[^\n]*\n {4}at <code>:5:4$/, stderr)
  })

  test('errors name the line and column as written, below five lines of interface', async () => {
    const code = `interface A {
  x: number
  y: string
  z: boolean
}
function f(a: A): never {
  throw new TypeError('bad')
}
f(null as any)`
    const { error, exitCode, stderr } = await run({ language: 'typescript', code })
    assert.deepEqual([error?.phase, error?.name, error?.message], ['run', 'TypeError', 'bad'])
    assert.deepEqual([error?.line, error?.column], [7, 9])
    assert.equal(error?.stack, 'TypeError: bad\n    at f (<code>:7:9)\n    at <code>:9:1')
    assert.equal(exitCode, 1)
    assert.match(stderr, /^<code>:7\n  throw new TypeError\('bad'\)\n {8}\^\n\nTypeError: bad\n/)
  })

  test('errors name the line as written in code that is rewritten twice', async () => {
    const code =
      'import { join } from "node:path"\ntype T = {\n  a: 1\n}\nawait 0; join("a"); const x: T = JSON.parse("null"); x.a'
    const { error } = await run({ language: 'typescript', code })
    assert.equal(error?.line, 5)
  })

  test('stacks that the program prints itself have the lines as written', async () => {
    const code = 'type A = {\n  a: 1\n}\nconsole.log(new Error("here").stack)'
    assert.match((await run({ language: 'typescript', code })).stdout, /<code>:4:13/)
  })

  test('a syntax error names the place, counted in characters', async () => {
    const code = 'const s = "é😀"\nlet x: = 5'
    const { error, exitCode, stderr } = await run({ language: 'typescript', code })
    assert.deepEqual([error?.phase, error?.name, error?.line, error?.column], ['syntax', 'SyntaxError', 2, 8])
    assert.equal(exitCode, 1)
    assert.match(stderr, /let x: = 5\n {7}\^\n/)
  })

  test('code nested 200,000 levels deep ends only its own process', async () => {
    const { exitCode, value } = await run({
      language: 'typescript',
      code: '('.repeat(200_000) + '1' + ')'.repeat(200_000),
    })
    assert.notEqual(exitCode, 0)
    assert.equal(value, undefined)
  })
})
