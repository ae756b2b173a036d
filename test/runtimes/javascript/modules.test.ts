import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeEngines } from './guest-process.ts'

const files = {
  'esm.mjs':
    'export default 42\nexport const named = "n"\nexport function boom() {\n  throw new Error("from file")\n}',
  'common.cjs': 'module.exports = { a: 1 }',
  'typed.ts': 'export const t: number = 9',
  'data.json': '{"k":5}',
  'counter.mjs':
    'export let n = 0\nexport let base = class {}\nexport const raise = () => { n++ }\nexport const tag = (s, v) => s.join("") + v\nexport const list = [1]',
  'order.mjs': 'globalThis.order = ["imported"]',
  'node_modules/package-of-mine/package.json': '{"name":"package-of-mine","main":"main.js"}',
  'node_modules/package-of-mine/main.js': 'exports.mine = true',
}

const programs: readonly (readonly [title: string, code: string, value: unknown])[] = [
  [
    'default, named, renamed and namespace imports of built-ins',
    'import path, { join, sep as s } from "node:path"\nimport * as ns from "path"\n;[path.sep, join("a", "b"), s, ns.sep]',
    ['/', 'a/b', '/', '/'],
  ],
  ['imports of workspace files', 'import d, { named } from "./esm.mjs"\n;[d, named]', [42, 'n']],
  ['imports of JSON', 'import data from "./data.json" with { type: "json" }\ndata.k', 5],
  ['imports of CommonJS', 'import c from "./common.cjs"\nc.a', 1],
  ['imports of TypeScript files', 'import { t } from "./typed.ts"\nt', 9],
  ['imports of packages', 'import p from "package-of-mine"\np.mine', true],
  [
    'side-effect imports, which run before the program',
    'order.push("program")\nimport "./order.mjs"\norder',
    ['imported', 'program'],
  ],
  ['dynamic imports of workspace files', 'import("./esm.mjs").then((m) => m.default)', 42],
  ['dynamic imports below await', '(await import("./esm.mjs")).named', 'n'],
  [
    'dynamic imports inside functions',
    'async function f() { return (await import("node:path")).sep }\nf()',
    '/',
  ],
  [
    'require of built-ins, files and packages',
    '[require("path").sep, require("./common.cjs").a, require("package-of-mine").mine]',
    ['/', 1, true],
  ],
  [
    'require beside imports',
    'import fs from "node:fs"\nconst { a } = require("./common.cjs")\n;[typeof fs.readFileSync, a]',
    ['function', 1],
  ],
  ['the word import in a string', '"import x from y; await z; export"', 'import x from y; await z; export'],
  [
    'exports of declarations',
    'export const a = 1\nexport function f() { return a + 1 }\nexport class C {}\nf()',
    2,
  ],
  ['export lists', 'const a = 3\nexport { a, a as b }\na', 3],
  [
    're-exports, which are imported',
    'export { named } from "./esm.mjs"\nexport * from "./order.mjs"\norder',
    ['imported'],
  ],
  ['a default export, which is the value', 'export default 2 + 3', 5],
  ['default-exported declarations', 'export default function main() { return 4 }\nmain()', 4],
  ['anonymous default exports, which are no value', '1; export default class {}', 1],
  [
    'live imports as keys, labels, members, tags, defaults, and in classes',
    `import { n, raise, tag, list, base as Base } from "./counter.mjs"
raise()
const o = { n, m: n, [n]: n, n() { return n }, get list() { return list.length } }
class A extends Base { n = n; static [n] = n; #n = n; f(a = n, { b = n } = {}) { return [a, b, this.#n, this.n] } }
n: for (;;) break n
raise()
;[o.n(), o.m, o[1], o.list, new A().f(), A[1], tag\`x\${n}\`, typeof n, -n, n ? [...list, n] : 0, ((x) => x.n)({ n })]`,
    [2, 1, 1, 1, [2, 2, 2, 2], 1, 'x2', 'number', -2, [1, 2], 2],
  ],
  [
    'imports beside declarations of the same name deeper down',
    `import { n, raise } from "./counter.mjs"
raise()
const f = (n) => n, g = ({ n }) => n, h = () => { let n = 5; return n }
const k = () => { try { throw 6 } catch (n) { return n } }
;[f(3), g({ n: 4 }), h(), k(), (function n() { return typeof n })()]`,
    [3, 4, 5, 6, 'function'],
  ],
  ['the program as the main module', '[require.main === module, import.meta.main]', [true, true]],
  ['module.exports', 'module.exports.a = 1; exports.b = 2; module.exports', { a: 1, b: 2 }],
  [
    'names of its own for everything that is there',
    'const require = 1, module = 2, exports = 3, input = 4, process = 5\n;[require, module, exports, input, process]',
    [1, 2, 3, 4, 5],
  ],
]

describeEngines('Modules', (run) => {
  for (const [title, code, value] of programs) {
    test(`the program may use ${title}`, async () => {
      const end = await run({ code, files })
      assert.equal(end.exitCode, 0, end.stderr)
      assert.deepEqual(end.value, value)
      assert.equal(end.stderr, '')
    })
  }

  test('import.meta and the CommonJS names say where the program is', async () => {
    const code = `import { pathToFileURL } from 'node:url'
const { url, dirname, filename } = import.meta
;[dirname === process.cwd(), filename === __filename, dirname === __dirname, url === pathToFileURL(filename).href, import.meta.resolve('./a.js') === pathToFileURL(process.cwd() + '/a.js').href]`
    assert.deepEqual((await run(code)).value, [true, true, true, true, true])
  })

  test('an import of a name that is not there is an error at the import', async () => {
    const { error } = await run({ code: 'let a = 1\nimport { nope } from "./esm.mjs"\na', files })
    assert.equal(error?.message, "The requested module './esm.mjs' does not provide an export named 'nope'")
    assert.deepEqual([error?.name, error?.line, error?.column], ['SyntaxError', 2, 1])
  })

  test('a module that is not there is an error of the program', async () => {
    const { error, exitCode } = await run('import "./missing.mjs"')
    assert.equal(error?.phase, 'run')
    assert.match(error?.message ?? '', /missing\.mjs/)
    assert.equal(exitCode, 1)
  })

  test('an error inside an imported file names the line of the program that called it', async () => {
    const { error } = await run({ code: 'import { boom } from "./esm.mjs"\n\nboom()', files })
    assert.deepEqual([error?.message, error?.line], ['from file', 3])
    assert.match(error?.stack ?? '', /esm\.mjs:4:/)
  })

  test('the program finds its input and its arguments', async () => {
    const input = { list: [1n, new Date(0)], map: new Map([['a', new Uint8Array([1, 2])]]) }
    const { value } = await run({ code: '[input, process.argv.slice(1)]', input, args: ['--flag', 'x'] })
    assert.deepEqual(value, [input, ['<code>', '--flag', 'x']])
  })

  test('without an input, `input` is undefined', async () => {
    assert.equal((await run('typeof input')).value, 'undefined')
  })
})
