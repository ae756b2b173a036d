/** Errors are told as the plain engine tells them: the same names, messages and fields, and only the program's frames. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { engines, runGuest } from './guest-process.ts'
import type { EngineName } from './guest-process.ts'

/** Statements that throw. */
const kinds = [
  'throw new Error("m")',
  'throw new TypeError("m", { cause: new RangeError("c") })',
  'throw new Error("m", { cause: "text" })',
  'throw new AggregateError([new Error("a"), new TypeError("b")], "m")',
  'throw Object.assign(new Error("m"), { code: "E1", detail: { a: [1] } })',
  'class Own extends Error { name = "Own" }; throw new Own("m")',
  'class Own extends TypeError { constructor() { super("m"); this.extra = 1 } }; throw new Own()',
  'throw new Error("")',
  'throw new Error("two\\nlines")',
  'const e = new Error("m"); e.name = "Renamed"; throw e',
  'const e = new Error("m"); e.message = "changed"; throw e',
  'const e = new Error("m"); delete e.stack; throw e',
  'const e = new Error("m"); e.stack = undefined; throw e',
  'const e = new Error("m"); e.stack = "own text"; throw e',
  'const e = new Error("m"); e.stack = 5; throw e',
  'throw Object.create(Error.prototype)',
  'throw Object.setPrototypeOf(new Error("m"), null)',
  'throw new DOMException("m", "DataError")',
  'throw new DOMException("m")',
  'throw new DOMException("m", { name: "Own", cause: new Error("c") })',
  'throw Object.assign(new DOMException("m", "AbortError"), { extra: 1 })',
  'class Own extends DOMException {}; throw new Own("m", "DataError")',
  'structuredClone(() => {})',
  'structuredClone(Symbol())',
  'atob("*")',
  'btoa("\\u{1F600}")',
  'const c = new AbortController(); c.abort(); c.signal.throwIfAborted()',
  'throw AbortSignal.abort().reason',
  'const c = new AbortController(); c.abort(new Error("why")); c.signal.throwIfAborted()',
  'const c = new AbortController(); c.abort(); await fetch("http://localhost:9/", { signal: c.signal })',
  'await crypto.subtle.importKey("raw", new Uint8Array(3), "AES-GCM", true, ["encrypt"])',
  'await crypto.subtle.generateKey("none", true, [])',
  'new MessageChannel().port1.postMessage(() => {})',
  'new URL("::")',
  'new Request("::")',
  'new Headers([["a b", "c"]])',
  'new TextDecoder("zz")',
  'new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))',
  'new EventTarget().dispatchEvent({})',
  'JSON.parse("{")',
  'new RegExp("(")',
  'decodeURIComponent("%")',
  'null.x',
  'undefined()',
  'notDeclared',
  'Symbol() + ""',
  'BigInt(1.5)',
  '1n + 1',
  'new Array(-1)',
  '"x".repeat(-1)',
  '(1.5).toFixed(101)',
  'const f = () => 1 + f(); f()',
  'new WebAssembly.Module(new Uint8Array(4))',
  'new Function("(")',
  'new (class A { #p; static t(o) { return o.#p } }).constructor.t({})',
  'Reflect.construct(1)',
  'new Proxy({}, { get() { throw new Error("trap") } }).a',
  'await Promise.any([Promise.reject(new Error("a"))])',
  'await Promise.reject(new Error("rejected"))',
  'require("node:fs").readFileSync("/nope")',
  'await require("node:fs/promises").readFile("/nope")',
  'require("node:assert").strictEqual(1, 2)',
  'require("node:child_process").execFileSync("/nope")',
  'require("node:zlib").gunzipSync(Buffer.from("aaaa"))',
  'require("node:crypto").createCipheriv("zz", "", "")',
  'Buffer.alloc(-1)',
  'require("node:util").parseArgs({ args: ["--x"] })',
  'require("node:vm").runInNewContext("null.x")',
  'require("node:vm").runInNewContext("throw new Error(1)")',
  'require("not-there")',
  'await import("not-there")',
  'throw "text"',
  'throw { a: 1 }',
  'throw undefined',
  'throw null',
  'throw () => {}',
] as const

/** What differs from the plain engine, and why. */
const differences: readonly {
  readonly kind: RegExp
  readonly engines: readonly EngineName[]
  readonly why: string
}[] = [
  {
    kind: /not-there/,
    engines: ['bun', 'node'],
    why: 'the message names the importing file, which is <code>',
  },
  {
    kind: /^undefined\(\)|^new \(class/,
    engines: ['bun'],
    why: "the message quotes the expression: as written, and not as Bun's transpiler prints it",
  },
]

/** One program that throws them all, and shows each as data and through the console. */
const program = (isTold: boolean) => `const found = []
const field = (e, key) => { try { return typeof e[key] === 'symbol' ? '' : String(e[key]) } catch (x) { return 'cannot' } }
${kinds
  .map(
    (kind, index) => `await (async () => { ${kind} })().then(() => { found[${index}] = 'nothing' }, (e) => {
  const isObject = typeof e === 'object' && e !== null
  const keys = isObject ? Object.keys(e).filter((key) => !['line', 'column', 'sourceURL', 'stack'].includes(key)).join() : ''
  found[${index}] = isObject ? [field(e, 'name'), field(e, 'message'), keys, e instanceof Error, 'cause' in e] : [typeof e]
  ${isTold ? `console.log('@@${index}'); console.log(e)` : ''}
})`,
  )
  .join('\n')}
console.log('@@@' + JSON.stringify(found))
process.exit(0)
`

function plainly(engine: EngineName): readonly unknown[] {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-told-'))
  try {
    const file = join(folder, 'program.mjs')
    writeFileSync(
      file,
      `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)\n${program(false)}`,
    )
    const printed = execFileSync(engines[engine], [file], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    return JSON.parse(printed.slice(printed.lastIndexOf('@@@') + 3)) as unknown[]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

for (const engine of ['bun', 'node'] as const)
  describe(`Errors in ${engine}`, () => {
    test('are those of the plain engine, and the console shows their message without frames of the harness', async () => {
      const plain = plainly(engine)
      const { stdout, stderr, error } = await runGuest(engine, { code: program(true) })
      assert.equal(error, undefined, stderr)
      const found = JSON.parse(stdout.slice(stdout.lastIndexOf('@@@') + 3)) as unknown[]
      const texts = stdout.split(/^@@\d+\n/m).slice(1)
      assert.equal(texts.length, kinds.length)
      for (const [index, kind] of kinds.entries()) {
        const isDocumented = differences.some((row) => row.engines.includes(engine) && row.kind.test(kind))
        if (!isDocumented) assert.deepEqual(found[index], plain[index], kind)
        const text = texts[index] ?? ''
        assert.doesNotMatch(text, /guest-(?:bun|node)|\[native code\]/, kind)
        const [, message = '', , isError] = found[index] as [string, string?, string?, boolean?]
        if (isError === true && !/stack|Object\.|"own text"/.test(kind))
          assert.ok(text.includes(message), `${kind}: ${text}`)
      }
    })

    for (const code of [
      'structuredClone(() => {})',
      'throw new DOMException("m", "DataError")',
      'const c = new AbortController(); c.abort(); c.signal.throwIfAborted()',
      'setTimeout(() => { atob("*") }, 1)',
      'require("node:vm").runInNewContext("null.x")',
      'await crypto.subtle.importKey("raw", new Uint8Array(3), "AES-GCM", true, ["encrypt"])',
    ])
      test(`an uncaught one has its line, a mark and no other frames: ${code}`, async () => {
        const { error, stderr } = await runGuest(engine, { code: `const a = 1\n${code}` })
        assert.equal(error?.line, 2, stderr)
        assert.ok(stderr.startsWith(`<code>:2\n${code}\n`) && /^ *\^$/m.test(stderr), stderr)
        assert.ok(stderr.includes(`${error.message}\n    at `), stderr)
        assert.doesNotMatch(`${stderr}${error.stack}`, /guest-(?:bun|node)|\[native code\]/)
      })

    test('without a stack are told with their cause and fields', async () => {
      const code = 'const e = new Error("m", { cause: 5 }); e.code = 7; e.stack = undefined; throw e'
      const { stderr } = await runGuest(engine, { code })
      assert.match(stderr, /m.*code: 7.*\[cause\]: 5/)
    })
  })

test('a function of the program that prepares stacks in Node gets only frames of the program', async () => {
  const code =
    'Error.prepareStackTrace = (_, frames) => frames.map(String)\nconsole.log(new Error("x").stack.join())'
  assert.equal((await runGuest('node', { code })).stdout, '<code>:2:13\n')
  const restored =
    'const old = Error.prepareStackTrace; Error.prepareStackTrace = () => 1; Error.prepareStackTrace = old\nnew Error("x").stack'
  assert.equal((await runGuest('node', { code: restored })).value, 'Error: x\n    at <code>:2:1')
})
