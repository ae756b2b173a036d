/** ECMA-262 16.2 and the Node documentation on ECMAScript modules and CommonJS. */
import { type ConformanceProgram } from './program.ts'

const files = {
  'math.js': 'export const pi = 3; export default (r) => pi * r * r; export * as self from "./math.js"',
  'counter.mjs': 'export let count = 0\nexport const raise = () => { count++ }',
  'state.mjs':
    'export let db = null\nexport let handler = () => "old"\nexport let items = [1]\nexport const connect = () => { db = { query: () => "rows" }; handler = () => "new"; items = [] }',
  'common.cjs': 'exports.a = 1; exports.where = __filename; exports.isMain = require.main === module',
  'plain.js': 'module.exports = function plain() { return "plain" }',
  'data.json': '{ "k": [1, 2] }',
  'chain.js':
    'export * from "./math.js"; export { default } from "./math.js"; export { count as n } from "./counter.mjs"',
  'slow.mjs': 'export const late = await new Promise((resolve) => setTimeout(resolve, 1, "late"))',
  'cycle-a.mjs': 'import { b } from "./cycle-b.mjs"; export const a = () => "a" + b()',
  'cycle-b.mjs':
    'import { a } from "./cycle-a.mjs"; export const b = () => "b"; export const both = () => a()',
  'where.mjs':
    'export const { url, dirname, filename } = import.meta; export const near = import.meta.resolve("./math.js")',
  'deep/index.js': 'exports.deep = true',
  'node_modules/pack/package.json':
    '{ "name": "pack", "exports": { ".": { "import": "./esm.mjs", "require": "./cjs.cjs" }, "./sub": "./sub.mjs" } }',
  'node_modules/pack/esm.mjs': 'export default "esm"',
  'node_modules/pack/cjs.cjs': 'module.exports = "cjs"',
  'node_modules/pack/sub.mjs': 'export const sub = 1',
}

type Row = readonly [title: string, code: string, value: unknown]
const rows = (from: string, list: readonly Row[]): ConformanceProgram[] =>
  list.map(([title, code, value]) => ({ title, from, code, files, expected: { value } }))

export const modules: readonly ConformanceProgram[] = [
  {
    title: 'subpath imports of a package of type module',
    from: 'Node: Packages',
    files: {
      'package.json': '{ "type": "module", "imports": { "#inner": "./inner.js" } }',
      'inner.js': 'export const inner = (function () { return typeof this })()',
    },
    code: 'import { inner } from "#inner"\ninner',
    expected: { value: 'undefined' },
  },
  ...rows('ECMA-262 16.2 Modules', [
    [
      'default, named, renamed and namespace imports',
      'import area, { pi, pi as p } from "./math.js"\nimport * as all from "./math.js"\n[area(2), pi, p, Object.keys(all)]',
      [12, 3, 3, ['default', 'pi', 'self']],
    ],
    ['imports that stand below their use', 'const r = pi * 2\nimport { pi } from "./math.js"\nr', 6],
    [
      'live bindings, which change with their module',
      'import { count, raise } from "./counter.mjs"\nconst before = count; raise(); raise()\n;[before, count, { count }, `${count}`]',
      [0, 2, { count: 2 }, '2'],
    ],
    [
      'live bindings beside a parameter of the same name',
      'import { count, raise } from "./counter.mjs"\nraise(); ((count) => count)(9)',
      9,
    ],
    [
      'live bindings that are called, and whose members are used',
      'import { db, handler, items, connect } from "./state.mjs"\nconnect(); [1].map((db) => db); [db.query(), handler(), items.length, typeof db]',
      ['rows', 'new', 0, 'object'],
    ],
    [
      'an import that is assigned to, which throws',
      'import { count } from "./counter.mjs"\ntry { count = 5 } catch (e) { e.name }',
      'TypeError',
    ],
    ['re-exports', 'import area, { pi, n } from "./chain.js"\n[area(1), pi, n]', [3, 3, 0]],
    ['modules that import each other', 'import { both } from "./cycle-b.mjs"\nboth()', 'ab'],
    ['a module with top-level await', 'import { late } from "./slow.mjs"\nlate', 'late'],
    [
      'import(), which gives the same module',
      'import * as a from "./math.js"\n(await import("./math.js")) === a',
      true,
    ],
    ['import() of a name that is computed', 'const name = "math"; (await import(`./${name}.js`)).pi', 3],
    ['JSON with an import attribute', 'import data from "./data.json" with { type: "json" }\ndata.k', [1, 2]],
    [
      'JSON by import() with an attribute',
      '(await import("./data.json", { with: { type: "json" } })).default.k',
      [1, 2],
    ],
    ['an export of the program beside its value', 'export const a = 1\nexport default a + 1', 2],
    [
      'export lists and exports from elsewhere',
      'const a = 4\nexport { a as "any name" }\nexport { pi } from "./math.js"\na',
      4,
    ],
  ]),
  ...rows('Node: ECMAScript modules', [
    [
      'built-ins with and without node:',
      'import a from "fs"\nimport b from "node:fs"\nimport { sep } from "path/posix"\n[a === b, sep]',
      [true, '/'],
    ],
    [
      'CommonJS by import, with its names',
      'import c, { a } from "./common.cjs"\n[c.a, a, c.isMain]',
      [1, 1, false],
    ],
    ['CommonJS in a .js file by import', 'import plain from "./plain.js"\nplain()', 'plain'],
    [
      'packages with conditional exports',
      'import a from "pack"\nimport { sub } from "pack/sub"\n[a, sub, require("pack")]',
      ['esm', 1, 'cjs'],
    ],
    [
      'import.meta of the program',
      '[import.meta.dirname, import.meta.filename.startsWith("/workspace/"), import.meta.url.startsWith("file:///workspace/"), import.meta.main]',
      ['/workspace', true, true, true],
    ],
    [
      'import.meta.resolve',
      '[import.meta.resolve("./math.js"), import.meta.resolve("fs"), import.meta.resolve("pack")]',
      ['file:///workspace/math.js', 'node:fs', 'file:///workspace/node_modules/pack/cjs.cjs'],
    ],
    [
      'import.meta of a file',
      'import * as w from "./where.mjs"\n({ ...w })',
      {
        url: 'file:///workspace/where.mjs',
        dirname: '/workspace',
        filename: '/workspace/where.mjs',
        near: 'file:///workspace/math.js',
      },
    ],
    ['data: addresses', '(await import("data:text/javascript,export default 6")).default', 6],
  ]),
  {
    title: 'require of an ES module with top-level await',
    from: 'Node: Loading ECMAScript modules using require()',
    files,
    code: 'try { require("./slow.mjs").late } catch (e) { e.code }',
    expected: { value: 'ERR_REQUIRE_ASYNC_MODULE' },
    differs: {
      bun: {
        reason: 'Bun gives the module as far as it has come by then; Node refuses.',
        expected: { value: undefined },
      },
    },
  },
  {
    title: 'JSON that is imported without saying so',
    from: 'Node: JSON modules',
    files,
    code: 'try { (await import("./data.json")).default } catch (e) { e.code }',
    expected: { value: 'ERR_IMPORT_ATTRIBUTE_MISSING' },
    differs: {
      bun: {
        reason: 'Bun takes the type of a module from its name alone.',
        expected: { value: { k: [1, 2] } },
      },
    },
  },
  {
    title: 'JSON that was imported before it is required',
    from: 'Node: JSON modules',
    files,
    code: 'import data from "./data.json" with { type: "json" }\nObject.keys(require("./data.json"))',
    expected: { value: ['k'] },
    differs: {
      bun: {
        reason: 'Bun gives require() the namespace of a JSON module that import has loaded already.',
        expected: { value: ['default', 'k'] },
      },
    },
  },
  {
    title: 'a broken file, whose error the program catches',
    from: 'ECMA-262 16.2.1 Module Semantics',
    files: { 'broken.js': 'export const a = ;' },
    code: 'try { await import("./broken.js") } catch (e) { [e instanceof Error, e instanceof SyntaxError, e.name] }',
    expected: { value: [true, true, 'SyntaxError'] },
    differs: {
      bun: {
        reason: 'Bun throws an error of a class of its own. Uncaught, it is reported as a SyntaxError.',
        expected: { value: [true, false, 'BuildMessage'] },
      },
    },
  },
  ...rows('Node: CommonJS modules', [
    [
      'require of built-ins, files, folders, packages and JSON',
      '[require("node:path").sep, require("./common.cjs").a, require("./common").a ?? 0, require("./deep").deep, require("./data.json").k, require("./data").k]',
      ['/', 1, 1, true, [1, 2], [1, 2]],
    ],
    ['require of an ES module', 'const m = require("./math.js"); [m.default(1), m.pi]', [3, 3]],
    [
      'require.resolve, require.cache and module',
      '[require.resolve("./math.js"), require("./common.cjs") === require("./common.cjs"), Object.keys(require.cache).includes("/workspace/common.cjs"), require.main === module]',
      ['/workspace/math.js', true, true, true],
    ],
    [
      '__filename and __dirname',
      '[__dirname, require("./common.cjs").where]',
      ['/workspace', '/workspace/common.cjs'],
    ],
    [
      'createRequire',
      'import { createRequire } from "node:module"\ncreateRequire("/workspace/deep/")("../common.cjs").a',
      1,
    ],
    [
      'a module that is not there',
      'try { require("no-such-package") } catch (e) { e.code }',
      'MODULE_NOT_FOUND',
    ],
    [
      'a package that is not there, by import()',
      'try { await import("no-such-package") } catch (e) { e.code }',
      'ERR_MODULE_NOT_FOUND',
    ],
  ]),
]
