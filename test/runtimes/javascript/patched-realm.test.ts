import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeEngines } from './guest-process.ts'

// Each patches something that a careless harness would call. The result must still arrive.
const patches: readonly (readonly [title: string, code: string])[] = [
  ['JSON', 'JSON.stringify = JSON.parse = () => { throw 1 }'],
  [
    'toJSON of every object',
    'Object.prototype.toJSON = Array.prototype.toJSON = String.prototype.toJSON = () => "forged"',
  ],
  [
    'array methods',
    'for (const key of Object.getOwnPropertyNames(Array.prototype)) if (key !== "constructor" && key !== "length") Array.prototype[key] = () => { throw new Error(key) }',
  ],
  ['array iteration', 'Array.prototype[Symbol.iterator] = () => { throw 1 }'],
  [
    'setters on array indexes',
    'for (let i = 0; i < 20; i++) Object.defineProperty(Array.prototype, i, { set() { throw new Error("set") }, get() { return "forged" }, configurable: true })',
  ],
  [
    'string methods',
    'for (const key of Object.getOwnPropertyNames(String.prototype)) if (key !== "constructor" && key !== "length") String.prototype[key] = () => { throw new Error(key) }',
  ],
  [
    'regular expressions',
    'RegExp.prototype.exec = RegExp.prototype.test = RegExp.prototype[Symbol.replace] = () => { throw 1 }',
  ],
  [
    'maps and sets',
    'for (const { prototype } of [Map, Set, WeakMap]) for (const key of ["get", "set", "has", "add", "forEach", "delete"]) if (prototype[key]) prototype[key] = () => { throw 1 }',
  ],
  [
    'promises',
    'Promise.prototype.then = Promise.prototype.catch = Promise.prototype.finally = () => { throw 1 }; Promise.resolve = Promise.reject = () => { throw 1 }',
  ],
  ['a promise species', 'Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } })'],
  [
    'typed arrays',
    'const t = Object.getPrototypeOf(Uint8Array.prototype)\nfor (const key of Object.getOwnPropertyNames(t)) if (key !== "constructor") Object.defineProperty(t, key, { get() { throw new Error(key) } })',
  ],
  [
    'buffers',
    'for (const key of Object.getOwnPropertyNames(Buffer.prototype)) if (key !== "constructor" && key !== "parent" && key !== "offset") Buffer.prototype[key] = () => { throw 1 }; Buffer.from = Buffer.byteLength = () => { throw 1 }',
  ],
  [
    'text encoding',
    'TextEncoder.prototype.encode = TextEncoder.prototype.encodeInto = TextDecoder.prototype.decode = () => { throw 1 }',
  ],
  [
    'Object and Reflect',
    'const all = [Object, Reflect, Number, Symbol].flatMap((owner) => Object.getOwnPropertyNames(owner).map((key) => [owner, key]))\nfor (const [owner, key] of all) if (typeof owner[key] === "function" && key !== "prototype") try { owner[key] = () => { throw new Error(key) } } catch {}',
  ],
  [
    'Function.prototype',
    'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }',
  ],
  [
    'stack traces',
    'Error.prepareStackTrace = () => { throw 1 }; Error.captureStackTrace = () => { throw 1 }; Error.stackTraceLimit = 0',
  ],
  ['the console', 'for (const key of Object.keys(console)) console[key] = () => { throw 1 }'],
  [
    'fs',
    'const fs = require("fs"); fs.writeSync = fs.readSync = fs.writeFileSync = () => { throw 1 }; require("module").syncBuiltinESMExports?.()',
  ],
  ['util', 'const util = require("util"); util.inspect = util.format = () => { throw 1 }'],
  [
    'timers',
    'globalThis.setTimeout = globalThis.queueMicrotask = globalThis.setImmediate = process.nextTick = () => { throw 1 }',
  ],
  [
    'Atomics and SharedArrayBuffer',
    'Atomics.wait = () => { throw 1 }; globalThis.SharedArrayBuffer = undefined',
  ],
  [
    'every global that can go',
    'for (const key of Object.getOwnPropertyNames(globalThis)) if (key !== "globalThis") try { delete globalThis[key] } catch {}',
  ],
]

const result = '({ list: [1, "é", 2n, new Map([[1, new Set([2])]]), new Uint8Array([1, 2])], text: "ok" })'

describeEngines('A realm that guest code has patched', (run) => {
  for (const [title, code] of patches) {
    test(`in ${title} still returns the program’s value`, async () => {
      const mapAndSet = 'const made = ' + result
      const { value, exitCode, stderr } = await run(`${mapAndSet}\n{ ${code} }\nmade`)
      assert.equal(exitCode, 0, stderr)
      const expected = {
        list: [1, 'é', 2n, new Map([[1, new Set([2])]]), new Uint8Array([1, 2])],
        text: 'ok',
      }
      assert.deepEqual(value, expected)
    })

    test(`in ${title} still reports the program’s error`, async () => {
      const { error, exitCode } = await run(`const made = new TypeError('mine')\n{ ${code} }\nthrow made`)
      assert.equal(error?.message, 'mine')
      assert.equal(error.name, 'TypeError')
      assert.equal(exitCode, 1)
    })

    test(`in ${title} still returns an awaited value`, async () => {
      const { value, exitCode, stderr } = await run(`await 0\nconst made = 'é'\n{ ${code} }\nmade`)
      assert.deepEqual([value, exitCode], ['é', 0], stderr)
    })
  }

  test('with a replaced `process.exit` still ends after an error', async () => {
    const code =
      'process.exit = process.reallyExit = process.emit = () => {}; process.kill = () => {}; throw new Error("mine")'
    const { error, exitCode, signal } = await run(code)
    assert.equal(error?.message, 'mine')
    assert.ok(exitCode === 1 || signal === 'SIGKILL', `${exitCode} ${signal}`)
  })

  test('with exit listeners that throw still ends after an error', async () => {
    const { error, exitCode, signal } = await run(
      'process.on("exit", () => { throw new Error("again") }); throw new Error("mine")',
    )
    assert.equal(error?.message, 'mine')
    assert.notEqual(exitCode, 0, String(signal))
  })

  test('that closed the private descriptor ends by itself', async () => {
    const { exitCode, messages } = await run('require("fs").closeSync(3); 5')
    assert.deepEqual([exitCode, messages], [0, []])
  })

  test('that uses the private descriptor asynchronously still gives its value', async () => {
    const { messages } = await run(
      'const s = new (require("net").Socket)({ fd: 3 }); s.unref(); s.on("error", () => {}); "x".repeat(3_000_000)',
    )
    assert.deepEqual(
      messages.map(({ type }) => type),
      ['value', 'end'],
    )
  })
})
