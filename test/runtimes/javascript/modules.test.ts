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
  'db.mjs':
    'export let db = null\nexport let items = [1]\nexport let handler = () => "old"\nexport let level = 0\nexport { level as default }\nexport function connect() {\n  db = { query: (q = "") => "rows" + q, Row: class { r = 1 } }\n  items = []\n  level++\n  handler = function () { "use strict"; return this === undefined ? "new" : "this" }\n}',
  'names.mjs':
    'const p = 4, t = () => 5\nexport const length = 1, name = 2, prototype = 3\nexport { p as __proto__, t as toString }',
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
  [
    'imports that are called or looked into after their module replaced them',
    `import level, { db, items, handler, connect, level as renamed } from "./db.mjs"
import * as all from "./db.mjs"
[1].map(db => db).map(items => items).map(handler => handler)
connect()
const inner = () => {
  const text = ""
  handler()
  return handler() + text
}
const { o } = { o: { handler, db, [level]: renamed } }
;[db.query(), db?.["query"]("!"), new db.Row().r, items.length, handler(), (handler)(), handler?.(), handler\`\`, inner(), o.handler === all.handler, o.db === all.db, o[1], level, all.items.length]`,
    ['rows', 'rows!', 1, 0, 'new', 'new', 'new', 'new', 'new', true, true, 1, 1, 0],
  ],
  [
    'imports beside every kind of declaration of the same name',
    `import { n, raise } from "./counter.mjs"
raise()
const seen = []
function a(x = n) { var n = 9; seen.push(x, n) }
function b() { seen.push(n); if (true) { var n = 8 } }
function c() { { let n = 7 } { class n {} } { function n() {} } return n }
const d = class n { static s = typeof n; static { var n2 = n; { var x = n2 } } }
a(); b(); seen.push(c(), d.s, n)
for (const n of [5]) seen.push(n)
for (let n = 4; n > 3; n--) seen.push(n)
for (const n in { k: 1 }) seen.push(n)
switch (n) { case 1: let n = 3; seen.push(n) }
const e = (...[n, { m = n } = {}]) => [n, m]
class F { static { var n = 2; seen.push(n) } n() { return n } static n = n }
const { n: g = 5, h = n } = {}
n: { break n }
seen.push(e(6), new F().n(), F.n, g, h, ((n) => () => n)(0)())
seen`,
    [1, 9, undefined, 1, 'function', 1, 5, 4, 'k', 3, 2, [6, 6], 1, 1, 5, 1, 0],
  ],
  [
    'imports that are assigned to, which throws however it is done',
    `import { n, raise, list } from "./counter.mjs"
raise()
const tries = [() => { n = 1 }, () => { n += 1 }, () => { n++ }, () => { --n }, () => { [n] = [1] }, () => { ({ n } = { n: 1 }) }, () => { ({ a: n = 2 } = {}) }, () => { for (n of [1]); }, () => { for (n in { a: 1 }); }, () => { n &&= 2 }, () => { [...n] = [1] }]
const names = tries.map((f) => { try { f(); return "none" } catch (e) { return e.name } })
;[new Set(names).size, names[0], n ||= 5, list[0] ??= 4]`,
    [1, 'TypeError', 1, 1],
  ],
  [
    'imports with names that objects of the language have for themselves',
    'import { length, name, prototype, __proto__ as p, toString as t } from "./names.mjs"\nimport { name as again } from "./names.mjs"\n;[length, name, prototype, p, t(), again]',
    [1, 2, 3, 4, 5, 2],
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

  test('import.meta and the CommonJS variables contain the path of the program', async () => {
    const code = `import { pathToFileURL } from 'node:url'
const { url, dirname, filename } = import.meta
;[dirname === process.cwd(), filename === __filename, dirname === __dirname, url === pathToFileURL(filename).href, import.meta.resolve('./a.js') === pathToFileURL(process.cwd() + '/a.js').href]`
    assert.deepEqual((await run(code)).value, [true, true, true, true, true])
  })

  test('an import of a missing name is an error at the import', async () => {
    const { error } = await run({ code: 'let a = 1\nimport { nope } from "./esm.mjs"\na', files })
    assert.equal(error?.message, "The requested module './esm.mjs' does not provide an export named 'nope'")
    assert.deepEqual([error?.name, error?.line, error?.column], ['SyntaxError', 2, 1])
  })

  test('messages of the engine quote an import with its name in the program', async () => {
    const caught = `import { n as count, list } from "./counter.mjs"
const messages = []
try { count(1) } catch (e) { messages.push(e.message) }
try { list.nope() } catch (e) { messages.push(e.message) }
try { list.nope.deep } catch (e) { messages.push(e.message, e.stack.split("\\n")[0]) }
try { count ||= 1 } catch (e) { messages.push(e.message, e.stack.includes(e.message + "\\n    at ")) }
messages.join()`
    const { value, exitCode, stderr } = await run({ code: caught, files })
    assert.equal(exitCode, 0, stderr)
    assert.match(
      String(value),
      /^count is not a function.*,list\.nope is not a function.*,.*undefined.*(?:constant|readonly).*,true$/,
    )
    assert.doesNotMatch(String(value), /lazaret/)
    for (const code of ['count(1)', 'setTimeout(() => count(1))', 'await null; count(1)']) {
      const end = await run({ code: `import { n as count } from "./counter.mjs"\n${code}`, files })
      assert.match(end.error?.message ?? '', /^count is not a function/)
      assert.doesNotMatch(end.stderr + JSON.stringify(end.error), /lazaret/)
      assert.equal(end.error?.line, 2)
    }
  })

  test('a missing module is an error of the program', async () => {
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
