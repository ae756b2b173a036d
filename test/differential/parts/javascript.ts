/** Parts of programs in JavaScript and TypeScript. */
import type { Draw, MakePart, Part } from '../generate.ts'

const quote = (text: string): string => JSON.stringify(text)
const always = (...codes: readonly string[]): MakePart[] => codes.map((code) => () => ({ code }))
const inBun = (...codes: readonly string[]): MakePart[] =>
  codes.map((code) => () => ({ code, engines: ['bun'] }))
const typed = (...codes: readonly string[]): MakePart[] =>
  codes.map((code) => () => ({ code, isTypeScript: true }))

function printed(draw: Draw): string {
  return draw.pick([
    `console.log(${quote(draw.text())})`,
    `console.error(${quote(draw.text())})`,
    `process.stdout.write(${quote(draw.text())})`,
    `console.log(${quote(draw.text())}, ${draw.whole(1000)}, [${quote(draw.text())}], { a: ${quote(draw.text())} })`,
    `console.log('%s %d %i %j %o %O %c %%', ${quote(draw.text())}, ${draw.whole(9)}.5, 3.7, {a: 1}, [1], {b: 2}, 'css', 'rest')`,
  ])
}

function readsStdin(draw: Draw): Part {
  const stdin = draw.pick(['', 'one\ntwo\n', 'a\r\nb\rc\n', 'no newline', 'é😀\n日本語', '\n\n'])
  const code = draw.pick([
    "console.log(JSON.stringify(require('node:fs').readFileSync(0, 'utf8')))",
    "console.log(JSON.stringify(require('node:fs').readFileSync('/dev/stdin', 'utf8')))",
    'for await (const chunk of process.stdin) console.log(String(chunk))',
    "process.stdin.setEncoding('utf8'); let all = ''; process.stdin.on('data', (d) => all += d).on('end', () => console.log(JSON.stringify(all)))",
    "for await (const line of require('node:readline').createInterface({ input: process.stdin })) console.log('line', JSON.stringify(line))",
    "console.log(await require('node:stream/consumers').text(process.stdin))",
    "console.log(require('node:child_process').execFileSync('cat', { stdio: ['inherit', 'pipe', 'inherit'] }).toString())",
  ])
  return { code, request: { stdin } }
}

function readsFile(draw: Draw): Part {
  const name = draw.fileName()
  const code = draw.pick([
    `console.log(JSON.stringify(require('node:fs').readFileSync(${quote(name)}, 'utf8')))`,
    `console.log((await require('node:fs/promises').stat(${quote(name)})).size)`,
    `console.log(require('node:fs').existsSync(${quote(`./${name}`)}), require('node:path').resolve(${quote(name)}))`,
  ])
  return { code, request: { files: { [name]: draw.text() } } }
}

function importsFile(draw: Draw): Part {
  const name = draw.id()
  const odd = draw.pick(['ünï', 'with space', 'a#b', 'a?b', 'x%41', '日本語']) + name
  const url = encodeURIComponent(odd)
  return draw.pick<Part>([
    {
      code: `import { v as ${name} } from './${name}.mjs'; console.log(${name})`,
      request: { files: { [`${name}.mjs`]: 'export const v = 1' } },
    },
    {
      code: `import ${name} from './${name}.json' with { type: 'json' }; console.log(${name})`,
      request: { files: { [`${name}.json`]: '{"é": [1]}' } },
    },
    {
      code: `console.log(require('./${name}.cjs'))`,
      request: {
        files: {
          [`${name}.cjs`]:
            'module.exports = { f: typeof __filename, m: require.main === module, id: typeof module.id }',
        },
      },
    },
    {
      code: `console.log(require('./${name}.json'), require('./${name}'))`,
      request: { files: { [`${name}.json`]: '[1]' } },
    },
    {
      code: `console.log((await import('./${name}.js')).default)`,
      request: { files: { [`${name}.js`]: 'module.exports = 7' } },
    },
    {
      code: `console.log((await import('./${name}/index.mjs')).v)`,
      request: {
        files: {
          [`${name}/index.mjs`]: "export { v } from './deep/b.mjs'",
          [`${name}/deep/b.mjs`]: 'export const v = import.meta.url',
        },
      },
    },
    {
      code: `import * as ${name} from './${url}.mjs'; console.log(${name}.v)`,
      request: { files: { [`${odd}.mjs`]: 'export const v = "odd"' } },
    },
    {
      code: `console.log((await import('./${url}.mjs')).v)`,
      request: { files: { [`${odd}.mjs`]: 'export const v = "odd"' } },
    },
    {
      code: `import ${name} from '${name}'; console.log(${name})`,
      request: {
        files: {
          [`node_modules/${name}/package.json`]: `{"name":"${name}","type":"module","main":"m.js"}`,
          [`node_modules/${name}/m.js`]: 'export default "package"',
        },
      },
    },
    {
      code: `import { v as ${name} } from '@scope/${name}'; console.log(${name}, require.resolve('@scope/${name}'))`,
      request: {
        files: {
          [`node_modules/@scope/${name}/package.json`]: `{"name":"@scope/${name}","exports":"./m.mjs"}`,
          [`node_modules/@scope/${name}/m.mjs`]: 'export const v = import.meta.url',
        },
      },
    },
    {
      code: `import ${name} from '${name}/sub'; console.log(${name})`,
      request: {
        files: {
          [`node_modules/${name}/package.json`]: `{"name":"${name}","exports":{"./sub":{"import":"./s.mjs","require":"./s.cjs"}}}`,
          [`node_modules/${name}/s.mjs`]: 'export default "import"',
          [`node_modules/${name}/s.cjs`]: 'module.exports = "require"',
        },
      },
    },
    {
      code: `console.log(require('${name}/sub'))`,
      request: {
        files: {
          [`node_modules/${name}/package.json`]: `{"name":"${name}","exports":{"./sub":{"import":"./s.mjs","require":"./s.cjs"}}}`,
          [`node_modules/${name}/s.mjs`]: 'export default "import"',
          [`node_modules/${name}/s.cjs`]: 'module.exports = "require"',
        },
      },
    },
    {
      code: `import ${name} from '${name}/package.json' with { type: 'json' }; console.log(${name}.version)`,
      request: { files: { [`node_modules/${name}/package.json`]: `{"name":"${name}","version":"1.2.3"}` } },
    },
    {
      code: `console.log(require('${name}/dir/file.js'))`,
      request: { files: { [`node_modules/${name}/dir/file.js`]: 'module.exports = __dirname' } },
    },
    {
      code: `import ${name} from './${name}.mjs'`,
      request: { files: { [`${name}.mjs`]: 'export default 1\nthrow new TypeError("at load")' } },
    },
    {
      code: `import ${name} from './${name}.mjs'`,
      request: { files: { [`${name}.mjs`]: 'export default = 1' } },
    },
    {
      code: `import { missing as ${name} } from './${name}.mjs'`,
      request: { files: { [`${name}.mjs`]: 'export const v = 1' } },
    },
    { code: `import './${name}.mjs'`, request: { files: { [`${name}.mjs`]: "import './absent.mjs'" } } },
    {
      code: `import { f as ${name} } from './${name}.mjs'; ${name}()`,
      request: { files: { [`${name}.mjs`]: 'export function f() {\n  throw new RangeError("é")\n}' } },
    },
    {
      code: `import { E as ${name} } from './${name}.ts'; console.log(${name}.B)`,
      request: { files: { [`${name}.ts`]: 'export enum E { A, B = 5 }' } },
      isTypeScript: true,
    },
    {
      code: `import { fail as ${name} } from './${name}.ts'; ${name}('x')`,
      request: {
        files: {
          [`${name}.ts`]:
            'interface A {\n  a: number\n}\nexport function fail(x: string): never {\n  throw new Error(x)\n}',
        },
      },
      isTypeScript: true,
    },
    {
      code: `const { Worker } = require('node:worker_threads'); const w = new Worker('./${name}.mjs'); console.log(await new Promise((r) => w.on('message', r)))`,
      request: {
        files: {
          [`${name}.mjs`]:
            "import { parentPort } from 'node:worker_threads'; parentPort.postMessage('from worker')",
        },
      },
    },
    {
      code: `console.log(require('node:child_process').spawnSync(process.execPath, ['${name}.mjs', 'é'], { encoding: 'utf8' }).stdout)`,
      request: {
        files: { [`${name}.mjs`]: 'console.log(process.argv.slice(2), import.meta.url.slice(-9))' },
      },
      isPlain: false,
    },
  ])
}

function setsUp(draw: Draw): Part {
  const name = draw.id()
  return draw.pick<Part>([
    {
      code: `console.log(process.env.FROM_DOTENV)`,
      request: { files: { '.env': 'FROM_DOTENV=read\n' } },
      engines: ['bun'],
    },
    {
      code: `console.log(globalThis.preloaded)`,
      request: { files: { 'bunfig.toml': 'preload = ["./pre.js"]\n', 'pre.js': 'globalThis.preloaded = 1' } },
      engines: ['bun'],
    },
    {
      code: `import { v as ${name} } from '@lib/${name}'; console.log(${name})`,
      request: {
        files: {
          'tsconfig.json': '{"compilerOptions":{"paths":{"@lib/*":["./lib/*"]}}}',
          [`lib/${name}.ts`]: 'export const v: number = 1',
        },
      },
      engines: ['bun'],
      isTypeScript: true,
    },
    {
      code: `import { v as ${name} } from 'me'; console.log(${name})`,
      request: {
        files: {
          'package.json': '{"name":"me","exports":"./own.mjs"}',
          'own.mjs': 'export const v = "self"',
        },
      },
    },
    {
      code: `import { v as ${name} } from '#inner'; console.log(${name})`,
      request: {
        files: {
          'package.json': '{"imports":{"#inner":"./own.mjs"}}',
          'own.mjs': 'export const v = "inner"',
        },
      },
    },
    {
      code: `console.log(require('./${name}.js'))`,
      request: {
        files: {
          'package.json': '{"type":"commonjs"}',
          [`${name}.js`]: 'module.exports = this === module.exports',
        },
      },
    },
    {
      code: `console.log((await import('./${name}.js')).v)`,
      request: {
        files: { 'package.json': '{"type":"module"}', [`${name}.js`]: 'export const v = typeof require' },
      },
    },
  ])
}

export const javascriptParts: readonly MakePart[] = [
  (draw) => ({ code: printed(draw) }),
  (draw) => ({ code: `${printed(draw)}\n${printed(draw)}` }),
  readsStdin,
  readsStdin,
  readsFile,
  importsFile,
  importsFile,
  importsFile,
  importsFile,
  setsUp,
  setsUp,
  (draw) => {
    const input = draw.pick<unknown>([
      1,
      'é',
      null,
      [1, { a: 2n ** 70n }],
      new Date(0),
      new Map([[1, 2]]),
      new Set(['a']),
      new Uint8Array([0, 255]),
      { ключ: Number.NaN },
    ])
    return { code: 'console.log(input, typeof input)', request: { input } }
  },
  (draw) => {
    const args = draw.pick([
      ['a', 'b c'],
      ['', '-v', '--help'],
      ['é', '*', '$HOME'],
      ['--inspect', '-e', '1'],
    ])
    return {
      code: draw.pick([
        'console.log(process.argv.slice(2), process.argv.length)',
        "console.log(require('node:util').parseArgs({ strict: false, allowPositionals: true }))",
      ]),
      request: { args },
    }
  },
  (draw) => {
    const [name, value] = draw.pick([
      ['MINE', 'a = b'],
      ['EMPTY', ''],
      ['ÜMLAUT', 'é\n'],
      ['TZ', 'Asia/Tokyo'],
      ['NODE_ENV', 'production'],
      ['NO_COLOR', '1'],
      ['FORCE_COLOR', '1'],
      ['LANG', 'de_DE.UTF-8'],
      ['HOME', '/tmp'],
      ['DEBUG', '*'],
      ['COLUMNS', '40'],
    ])
    return {
      code: `console.log(process.env[${quote(name)}], new Date(0).getTimezoneOffset(), { a: 1 }, ${quote(name)} in process.env)`,
      request: { env: { [name]: value } },
    }
  },
  (draw) => {
    const name = `out/${draw.fileName()}`
    return {
      code: `require('node:fs').mkdirSync('out', { recursive: true }); require('node:fs').writeFileSync(${quote(name)}, ${quote(draw.text())})`,
      request: { collect: ['out/**'] },
    }
  },
  ...always(
    'console.debug("d"); console.info("i"); console.warn("w"); console.log(); console.log(undefined, null)',
    'console.table([{ a: 1, b: "é" }, { a: 2 }]); console.table([[1, 2]], ["0"])',
    'console.group("g"); console.log("in"); console.groupCollapsed(); console.warn("deep\\nlines"); console.groupEnd(); console.groupEnd(); console.log("out")',
    'console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 }); console.dir([1])',
    'console.assert(true, "no"); console.assert(false, "yes %s", 1); console.assert(false)',
    'console.count(); console.count("x"); console.countReset(); console.count()',
    'console.log(new Map([[1, { a: 1 }]]), new Set([1]), [, 1], new Date(0), /r/g, Symbol("s"), 10n, -0, () => 1, class A {}, new (class B { x = 1 })())',
    'console.log({ get a() { return 1 }, set b(v) {}, [Symbol.toStringTag]: "T", "k-é": 1 }, Object.create(null), new Proxy({}, {}))',
    'const circle = { a: 1 }; circle.self = circle; console.log(circle)',
    'console.log([..."x".repeat(120)], "y".repeat(200), Array(3), { a: "l\\n" })',
    'console.log(new Error("shown").message, String(new TypeError("é")), Object.prototype.toString.call(new Error()))',
    'try { null.x } catch (e) { console.log(e.name, e.message) }',
    'try { undefined_name } catch (e) { console.log(e.constructor === ReferenceError, e instanceof Error, e.message) }',
    'try { JSON.parse("{bad") } catch (e) { console.log(e.name) }',
    'try { structuredClone(() => 1) } catch (e) { console.log(e.name, e instanceof DOMException, e.code) }',
    'console.log(await Promise.allSettled([1, Promise.reject(new Error("r"))]).then((x) => x.map((y) => y.status)))',
    'setTimeout(() => console.log("later"), 1); console.log("now")',
    'queueMicrotask(() => console.log("micro")); setImmediate(() => console.log("immediate")); process.nextTick(() => console.log("tick"))',
    'void process.on("exit", (code) => console.log("exit", code, process.exitCode))',
    'void process.on("beforeExit", () => console.log("before exit"))',
    'console.log(typeof require, typeof module, typeof exports, typeof __filename, typeof __dirname, typeof import.meta)',
    'console.log(import.meta.url.startsWith("file:///"), import.meta.dirname, typeof import.meta.filename)',
    'console.log(this === undefined, typeof globalThis, (function () { return this === undefined })())',
    'console.log(require("node:module").builtinModules.includes("fs"), require.resolve("node:fs"), typeof require.cache)',
    'console.log(process.cwd(), typeof process.pid, process.platform, process.argv.length, process.execArgv, process.title.length > 0)',
    'console.log([0, 1, 2].map((fd) => require("node:fs").fstatSync(fd).isFIFO()), process.stdout.isTTY, process.stdin.isTTY, process.stdout.columns)',
    'console.log(process.stdout.writable, process.stdout.fd, process.stderr.fd, process.stdin.fd, process.stdout.writableHighWaterMark)',
    'console.log(process.stdout.write("") , process.listenerCount("uncaughtException"), process.listenerCount("exit"), process.listenerCount("SIGINT"))',
    'console.log(process.exitCode, process.umask().toString(8), process.uptime() >= 0, process.memoryUsage().rss > 0)',
    'console.log(typeof fetch, typeof WebSocket, typeof structuredClone, typeof navigator, typeof localStorage, typeof Bun, typeof Temporal)',
    'console.log(require("node:crypto").createHash("sha256").update("é").digest("hex"), crypto.randomUUID().length)',
    'console.log(require("node:zlib").gunzipSync(require("node:zlib").gzipSync("é")).toString(), Buffer.from("é").toString("base64"), btoa("a"))',
    'console.log(new URL("http://é.example/ü?q=1#f").href, new URLSearchParams({ a: "b c" }).toString(), new TextDecoder("utf-8").decode(new Uint8Array([0xff, 65])))',
    'console.log(new Intl.NumberFormat("de").format(1234.5), new Date(0).toLocaleString("en-GB"), "ä".localeCompare("b", "de"), Intl.DateTimeFormat().resolvedOptions())',
    'console.log(require("node:util").inspect({ a: [1, { b: 2 }] }, { depth: 0 }), require("node:util").format("%s", "f"), require("node:util").types.isProxy(1))',
    'console.log(require("node:vm").runInNewContext("a + 1", { a: 1 }), require("node:vm").runInThisContext("typeof require"))',
    'console.log(require("node:child_process").execSync("echo out; echo err >&2", { stdio: ["ignore", "pipe", "ignore"] }).toString())',
    'require("node:child_process").execSync("echo inherited", { stdio: "inherit" })',
    'console.log(require("node:child_process").spawnSync("sh", ["-c", "exit 3"]).status)',
    '{ const { Worker } = require("node:worker_threads"); const w = new Worker("require(\'node:worker_threads\').parentPort.postMessage(1 + 1)", { eval: true }); console.log(await new Promise((ok, no) => w.on("message", ok).on("error", no))) }',
    '{ const e = new (require("node:events"))(); e.on("a", (x) => console.log("event", x)); e.emit("a", 1) }',
    'class Base { static #n = 0; static next() { return ++Base.#n } get [Symbol.toStringTag]() { return "Base" } }; console.log(Base.next(), String(new Base()))',
    'console.log([3, 1, 2].toSorted(), Object.groupBy([1, 2, 3], (x) => (x % 2 ? "odd" : "even")), [1, 2].at(-1), "abc".replaceAll("b", "é"))',
    'console.log([...(function* () { yield 1; yield* [2, 3] })()], await Array.fromAsync((async function* () { yield 1 })()))',
    'label: for (const i of [1, 2]) { for (;;) { if (i === 2) break label; continue label } }\nconsole.log("labelled")',
    'var hoisted = typeof later; var later = 1; function decl() { return "decl" } console.log(hoisted, decl())',
    'console.log(eval("1 + 1"), new Function("a", "return a * 2")(4), typeof eval("var ev = 1; ev"))',
    'console.log(/(?<y>\\d{4})/.exec("in 2026")?.groups?.y, "é".normalize("NFD").length, /\\p{L}+/u.exec("日本")[0])',
    'console.log(new Uint8Array([1, 2]), new Float32Array(2), new ArrayBuffer(3), new DataView(new ArrayBuffer(1)), new WeakMap(), Promise.resolve(1), (async () => {})())',
    'performance.mark("a"); console.log(performance.getEntriesByName("a").length, typeof performance.now())',
    'console.log(await new Response("body").text(), new Headers({ A: "b" }).get("a"), (await new Blob(["é"]).arrayBuffer()).byteLength)',
    'const ac = new AbortController(); ac.abort(); console.log(ac.signal.aborted, ac.signal.reason.name)',
    '{ using d = { [Symbol.dispose]() { console.log("disposed") } }; console.log("used") }',
    'console.trace ? console.log("has trace") : 0',
    'process.stderr.write("err\\n"); process.stdout.write(new Uint8Array([0xff, 0xfe, 10]))',
    'require("node:fs").writeSync(1, "by descriptor\\n"); require("node:fs").writeSync(2, "error\\n")',
    'process.emitWarning("careful"); ',
    'process.emitWarning("old", "DeprecationWarning", "DEP9")',
    'console.log(new Error("é").stack.split("\\n")[0], Error.stackTraceLimit, Error.captureStackTrace.length)',
    'function where() { return new Error("w").stack.split("\\n").length > 1 } console.log(where())',
    'console.log((() => { const o = {}; Error.captureStackTrace(o); return o.stack.split("\\n")[1]?.trim() })())',
    'Error.prepareStackTrace = (e, frames) => frames.map((f) => f.getLineNumber() + ":" + f.getColumnNumber() + ":" + f.getFunctionName()); console.log(new Error("p").stack); Error.prepareStackTrace = undefined',
    '(function outer() { (function inner() { console.log(new Error("stack").stack) })() })()',
    'console.trace("traced")',
    'console.log(new Error("logged", { cause: new TypeError("inner") }))',
    'console.error(Object.assign(new RangeError("own"), { code: "E_OWN", extra: { a: 1 } }))',
    'console.log(new AggregateError([new Error("one"), 2], "many"))',
    'try { structuredClone(Symbol()) } catch (e) { console.log(e) }',
    'try { atob("*") } catch (e) { console.log(e.name, e.message) }',
  ),
  ...inBun(
    'console.log(typeof Bun.version, Bun.main.length > 0, Bun.argv.length, Bun.inspect({ a: 1 }))',
    'console.log(await Bun.file("/etc/hostname").exists(), Bun.hash("a") !== 0n, Bun.which("sh"))',
    'console.log(await Bun.$`echo ${"é $x"}`.text())',
    'console.log(Bun.escapeHTML("<a>"), Bun.deepEquals([1], [1]), Bun.sleepSync(1))',
    'console.log(import.meta.main, import.meta.path, import.meta.file, import.meta.dir, import.meta.env === process.env)',
    'console.log(await Bun.write("w.txt", "é"), await Bun.file("w.txt").text())',
    'import { expect } from "bun:test"',
    'console.log(new (require("bun:sqlite").Database)(":memory:").query("select 1 + 1 as n").get())',
    'const server = Bun.serve({ port: 0, fetch: () => new Response("served") }); console.log(await (await fetch(server.url)).text()); server.stop(true)',
  ),
  ...typed(
    'enum Color { Red = "r", Blue = 2, Next }\nconsole.log(Color, Color.Next)',
    'const enum Size { S = 1, L = S << 3 }\nconsole.log(Size.L)',
    'namespace Shapes { export const sides = 4; export namespace Deep { export const d = 1 } }\nconsole.log(Shapes.sides, Shapes.Deep.d)',
    'class Point { constructor(readonly x: number, private y = 2) {} sum() { return this.x + this.y } }\nconsole.log(new Point(1).sum(), new Point(3))',
    'function id<T extends { a: number }>(x: T): T { return x }\nconsole.log(id({ a: 1 } satisfies { a: number }) as { a: number }, <unknown>5)',
    'abstract class A { abstract f(): string; static s?: number; declare d: string }\nclass B extends A { override f() { return "f" } }\nconsole.log(new B().f(), Object.keys(new B()))',
    'function dec(v: unknown, c: unknown) { console.log("decorated", typeof c); }\nclass D { @dec m() {} @dec p = 1 }\nnew D()',
    'type T = { a?: string }\ninterface I extends T { b: number }\nlet x!: I; x = { b: 1 }; console.log(x?.a ?? "none", x!.b)',
    'import type { Stats } from "node:fs"\nimport { type PathLike, existsSync } from "node:fs"\nlet s: Stats | PathLike = "."; console.log(existsSync(s as string))',
    'function over(a: string): string; function over(a: number): number; function over(a: any) { return a }\nconsole.log(over(1))',
    'let tuple: [a: string, ...rest: number[]] = ["a", 1]; console.log(tuple as const)',
    'let tuple2 = ["a", 1] as const; for (const t of tuple2) console.log(t)',
    'enum Late { A = "x".length }\nthrow new Error(String(Late.A))',
    'interface Gone {\n  a: number\n  b: string\n}\n\nfunction thrower(g: Gone): never {\n  throw new TypeError(g.b)\n}\nthrower({ a: 1, b: "at line 7" })',
    'import fs = require("node:fs")\nconsole.log(typeof fs.readFileSync)',
    'let a: number = "not checked"; console.log(a)',
    'const g = <T,>(x: T) => x; console.log(g<string>("g"), g(1)!)',
    'export const exported = 1; export default class {}; export type { X }; type X = 1',
  ),
]

const thrown: readonly string[] = [
  'throw new Error("é😀")',
  'throw new TypeError("two\\nlines")',
  'throw new (class Own extends Error { name = "OwnName" })("own")',
  'class Sub extends RangeError {}\nthrow new Sub("sub")',
  'throw Object.assign(new Error("fields"), { code: "E_CODE", status: 404, nested: { a: [1] } })',
  'throw new Error("outer", { cause: new TypeError("inner") })',
  'throw new Error("outer", { cause: { not: "an error" } })',
  'throw new AggregateError([new Error("a"), new TypeError("b")], "many")',
  'throw "a string"',
  'throw 42',
  'throw null',
  'throw undefined',
  'throw { message: "like", name: "LikeError" }',
  'throw Symbol("s")',
  'throw 10n',
  'throw [1, 2]',
  'throw () => 1',
  'throw Object.freeze(new Error("frozen"))',
  'const noStack = new Error("no stack"); delete noStack.stack; noStack.stack = undefined; throw noStack',
  'const odd = new Error("odd"); odd.stack = "own text"; throw odd',
  'const odd = new Error("x"); odd.name = ""; throw odd',
  'const odd = new Error("x"); odd.message = { a: 1 }; throw odd',
  'throw new Proxy(new Error("proxied"), {})',
  'throw new DOMException("dom", "DataError")',
  'structuredClone(() => {})',
  'atob("*")',
  'AbortSignal.abort().throwIfAborted()',
  'new URL("not a url")',
  'null.property',
  'undefined_function()',
  'const constant = 1; constant = 2',
  '({}).a.b.c',
  'let f = (n) => f(n + 1); f(0)',
  'new Array(-1)',
  '(1).toFixed(200)',
  'JSON.parse("{bad json")',
  'decodeURIComponent("%")',
  'BigInt("x")',
  'Symbol() + ""',
  'require("./no-such-file")',
  'import "./no-such-file.mjs"',
  'await import("no-such-package")',
  'import { noSuchName } from "node:fs"',
  'require("node:fs").readFileSync("/no/such")',
  'await require("node:fs/promises").readFile("/no/such")',
  'function a() {\n  function b() {\n    throw new Error("deep")\n  }\n  b()\n}\na()',
  'setTimeout(() => { throw new Error("in a timer") }, 1)',
  'setTimeout(() => {\n  null.inTimer\n}, 1)\nawait new Promise((r) => setTimeout(r, 50))',
  'Promise.reject(new Error("unhandled"))',
  'Promise.reject("a string")',
  'Promise.reject(undefined)',
  'await Promise.reject(new TypeError("awaited"))',
  '(async () => { await null; throw new Error("async") })()',
  'async function main() {\n  await new Promise((r) => setTimeout(r, 1))\n  throw new Error("main failed")\n}\nmain()',
  'process.nextTick(() => { throw new Error("tick") })',
  'queueMicrotask(() => { throw new Error("micro") })',
  'new (require("node:events"))().emit("error", new Error("emitted"))',
  'process.on("uncaughtException", (e) => console.log("caught", e.message)); setTimeout(() => { throw new Error("handled") }, 1)',
  'process.on("unhandledRejection", (e) => console.log("caught", e.message)); Promise.reject(new Error("handled"))',
  'process.exit()',
  'process.exit(3)',
  'process.exit(300)',
  'process.exitCode = 4',
  'process.exitCode = 5; throw new Error("with exit code")',
  'setTimeout(() => process.exit(6), 1)',
  'try { process.exit(2) } finally { console.log("finally") }',
  'void process.on("exit", () => { process.exitCode = 9 })',
  'void process.on("exit", () => { throw new Error("in exit") })',
  'process.kill(process.pid, "SIGTERM"); await new Promise((r) => setTimeout(r, 5000))',
  'process.abort()',
  'const x = = 1',
  'let twice = 1; let twice = 2',
  'console.log("unclosed"',
  'function ( {',
  'return 1',
  'await = 1',
  'break',
  'const { a, = 1',
  'let s = "unterminated',
  'class { }',
  'if (1) { ',
  '1 +',
  'x = 1; undeclaredAssignment',
  'with ({}) {}',
  '010',
  'delete Object.prototype',
  '"use strict"; Object.freeze([]).push(1)',
  'eval("1 +")',
  'new Function("a b")',
  'require("node:vm").runInNewContext("throw new Error(\'in vm\')")',
  'require("node:assert").equal(1, 2)',
  'require("node:assert").deepStrictEqual({ a: 1 }, { a: 2 })',
  'require("node:child_process").execSync("exit 3", { stdio: "pipe" })',
  'throw new Error("")',
  'throw new Error()',
  'throw class Thrown {}',
  'throw new Date(0)',
  'throw new Map([[1, 2]])',
  'const e = new Error("getter"); Object.defineProperty(e, "message", { get() { throw new Error("in getter") } }); throw e',
  'const e = new Error("x"); e.toString = () => "own toString"; throw e',
  'Error.stackTraceLimit = 0; throw new Error("no frames")',
  'throw Object.create(Error.prototype, { message: { value: "by create" } })',
  '[1, 2].map((n) => { if (n === 2) throw new Error("in callback"); return n })',
  'const o = { get p() { throw new Error("in property") } }\no.p',
  'new (class { constructor() { throw new Error("in constructor") } })()',
  'for await (const x of (async function* () { yield 1; throw new Error("in generator") })()) console.log(x)',
]

const values: readonly string[] = [
  '1 + 1',
  '"é😀"',
  'null',
  'undefined',
  '[1, [2, [3]]]',
  '({ a: { b: [null, true] } })',
  '[NaN, Infinity, -0]',
  '2n ** 100n',
  'new Date(0)',
  'new Date(NaN)',
  'new Map([[1, { a: 1 }]])',
  'new Set([1, "a"])',
  'new Uint8Array([0, 255])',
  'new Float64Array([1.5])',
  'new ArrayBuffer(2)',
  '/re/gi',
  'Symbol("s")',
  '() => 1',
  'class K {}',
  'function named() {}',
  'new (class Inst { x = 1; #p = 2 })()',
  'Object.create(null)',
  'const circle = {}; circle.self = circle; circle',
  'new Error("as value")',
  'new Error("as value", { cause: 1 })',
  'Promise.resolve(5)',
  'await Promise.resolve(6)',
  '(async () => 7)()',
  'async function main() { console.log("in main"); return 8 }\nmain()',
  'new Proxy({ a: 1 }, {})',
  '({ get a() { return 1 } })',
  '({ get a() { throw new Error("getter") } })',
  '({ toJSON() { return "json" } })',
  'let x = 5',
  'let x = 5; x',
  'x = 5',
  'if (true) { 1 } else { 2 }',
  'for (const i of [1, 2]) i',
  '{ a: 1 }',
  '{}',
  '1; 2; 3',
  '"use strict"',
  'var v = 1; v',
  'function f() {} f',
  '[1, , 3]',
  '[..."x".repeat(2000)].length; "x".repeat(5000)',
  'Array.from({ length: 2000 }, (_, i) => i)',
  'new WeakMap()',
  'globalThis.constructor.name; 1',
  'URL.parse("http://a/b")',
  'Buffer.from("é")',
  '(function () { return arguments })(1, 2)',
  '"\\ud800"',
  'switch (1) { case 1: "one" }',
  'try { 1 } finally { 2 }',
  'export default 5',
  'export const named = 1',
  'typeof input',
  '`template ${1 + 1}`',
  'void 0',
  '[undefined, () => 1, Symbol.iterator]',
  'Object.assign(() => 1, { a: 1 })',
  'new Number(5)',
  'new String("boxed")',
  'import.meta.url',
]

export const javascriptEnds: readonly MakePart[] = [...always(...thrown), ...always(...values)]
