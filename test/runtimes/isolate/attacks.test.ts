/**
 * Attacks from inside an isolate. Each states how its run must end: with an output, or with a kind of failure. The
 * surrounding process limits time and memory.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'

type End = { readonly output: unknown } | { readonly failed: 'runtime' | 'security' | 'syntax' | 'memory' }
const security = { failed: 'security' } as const
const runtime = { failed: 'runtime' } as const
const syntax = { failed: 'syntax' } as const
const output = (value: unknown): End => ({ output: value })

/** Tries to compile code with every function constructor that it can reach; returns a value that none may produce. */
const attempt = (code: string): string => `
  const attempt = (make) => { try { return typeof make() } catch (error) { return error.name } }
  output = [${code}].map(attempt)`

const attacks: Readonly<Record<string, readonly (readonly [code: string, end: End])[]>> = {
  'making code from text': [
    ['eval("1")', security],
    ['(0, eval)("1")', security],
    ['globalThis.eval("1")', security],
    ['Reflect.apply(eval, null, ["1"])', security],
    ['eval?.("1")', security],
    ['Function("return 1")()', security],
    ['new Function("return 1")()', security],
    ['Reflect.construct(Function, ["return 1"])', security],
    ['Reflect.construct(Function, ["return 1"], Object)', security],
    ['Function.prototype.constructor("return 1")', security],
    ['[].map.constructor("return 1")', security],
    ['(() => {}).constructor("return 1")', security],
    ['(async () => {}).constructor("return 1")', security],
    ['(function* () {}).constructor("return 1")', security],
    ['(async function* () {}).constructor("return 1")', security],
    ['class A extends Function { constructor() { super("return 1") } }; new A()', security],
    ['class A extends (async () => {}).constructor {}; new A("1")', security],
    ['Object.getPrototypeOf((async () => {}).constructor)("return 1")', security],
    ['console.log.constructor("return 1")', security],
    ['require.constructor("return 1")', security],
    ['crypto.randomUUID.constructor("return 1")', security],
    ['Function.bind(null, "return 1")()', security],
    ['["return 1"].map(Function)', security],
    ['Promise.resolve("return 1").then(Function)', security],
    ['await Promise.reject("return 1").catch(eval)', security],
    ['"a".replace(/a/, eval)', security],
    ['JSON.parse("[1]", Function)', security],
    ['new Proxy(Function, {})("return 1")', security],
    ['Array.from(["return 1"], Function)', security],
    ['Function`return 1`', security],
    ['try { eval("1") } catch {} output = 1', output(1)],
    ['delete Function.prototype.constructor; output = (() => {}).constructor === Function', output(true)],
    ['Function.prototype.constructor = 1; output = (() => {}).constructor === Function', output(true)],
    ['require("lodash").template("<%= 1 %>")()', security],
    ['require("lodash").runInContext().template("a")()', security],
    [
      attempt("() => (class {}).constructor('1'), () => (0, eval)('1'), () => Function.call(null, '1')"),
      output(['SecurityError', 'SecurityError', 'SecurityError']),
    ],
    ['setTimeout("1", 0)', runtime],
    ['import("fs")', runtime],
    ['await import("data:text/javascript,1")', runtime],
    [
      'output = typeof importScripts + typeof ShadowRealm + typeof Worker',
      output('undefinedundefinedundefined'),
    ],
  ],
  'memory that is not counted': [
    ['output = typeof WebAssembly', output('undefined')],
    ['output = typeof SharedArrayBuffer', output('undefined')],
    ['new WebAssembly.Memory({ initial: 1 })', runtime],
    ['output = new ArrayBuffer(8, { maxByteLength: 1e9 }).resizable', output(false)],
    ['new ArrayBuffer(8, { maxByteLength: 1e9 }).resize(1e9)', runtime],
    ['output = Reflect.construct(ArrayBuffer, [8, { maxByteLength: 1e9 }]).resizable', output(false)],
    [
      'output = Reflect.construct(ArrayBuffer, [8, { maxByteLength: 1e9 }], Object).maxByteLength',
      { output: undefined },
    ],
    [
      'class A extends ArrayBuffer { constructor() { super(8, { maxByteLength: 1e9 }) } }; output = new A().resizable',
      output(false),
    ],
    ['output = new (new Uint8Array(1).buffer.constructor)(8, { maxByteLength: 9 }).resizable', output(false)],
    [
      'output = new (Object.getPrototypeOf(new ArrayBuffer(1)).constructor)(8, { maxByteLength: 9 }).resizable',
      output(false),
    ],
    ['output = new ArrayBuffer(8).transfer(16).resizable', output(false)],
    ['output = structuredClone(new ArrayBuffer(8), { transfer: [] }).resizable', output(false)],
    [
      'const a = new ArrayBuffer(8); a.constructor = { [Symbol.species]: function (n) { return new ArrayBuffer(n, { maxByteLength: 99 }) } }; output = a.slice(0, 4).resizable',
      output(false),
    ],
    [
      'ArrayBuffer.prototype.constructor = Object; output = new Uint8Array(4).slice(1).buffer.resizable',
      output(false),
    ],
    [
      'output = ArrayBuffer.prototype.constructor === ArrayBuffer && ArrayBuffer[Symbol.species] === ArrayBuffer',
      output(true),
    ],
    ['Atomics.wait(new Int32Array(new ArrayBuffer(4)), 0, 0, 1000)', runtime],
    ['output = typeof Atomics.wait + typeof Atomics.waitAsync', output('undefinedundefined')],
    ['ArrayBuffer(8)', runtime],
    ['new ArrayBuffer(500e6)', { failed: 'memory' }],
    ['"a".repeat(2 ** 30)', runtime],
  ],
  'modules that are not there': [
    ['require("fs")', security],
    ['require("node:fs/promises")', security],
    ['require("node:lodash")', security],
    ['require("child_process")', security],
    ['require("fs/promises")', security],
    ['require("axios")', security],
    ['require("axios/lib/core")', security],
    ['require("@aws-sdk/client-s3")', security],
    ['require("isolated-vm")', security],
    ['require("./secret")', security],
    ['require("/etc/passwd")', security],
    ['require("C:\\\\secret")', security],
    ['require("file:///etc/passwd")', security],
    ['require("https://example.com/a.js")', security],
    ['require("lazaret:values")', security],
    ['require("left-pad")', runtime],
    ['require("lodash/fp")', runtime],
    ['require("__proto__")', runtime],
    ['require("constructor")', runtime],
    ['require("toString")', runtime],
    ['require("hasOwnProperty")', runtime],
    ['require("")', runtime],
    ['require()', runtime],
    ['require(["fs"])', runtime],
    ['require({ toString: () => "fs" })', runtime],
    ['require(Object("lodash"))', runtime],
    ['fetch("http://example.com")', security],
    ['await fetch("http://example.com").catch(() => 1)', security],
    ['process.exit()', runtime],
    [
      'output = typeof process + typeof global + typeof module + typeof exports',
      output('undefined'.repeat(4)),
    ],
    ['output = typeof setTimeout + typeof setInterval + typeof setImmediate', output('undefined'.repeat(3))],
    [
      'String.prototype.includes = () => true; Array.prototype.includes = () => true; Set.prototype.has = () => false; require("fs")',
      security,
    ],
    ['RegExp.prototype.exec = () => null; require("node:fs")', security],
    ['Map.prototype.get = () => ({ exports: 1 }); output = typeof require("uuid").v4', output('function')],
  ],
  'the body that the code becomes': [
    ['}) evil (', syntax],
    ['}); throw 1; (() => {', syntax],
    ['} /*', syntax],
    ['*/ }', syntax],
    ['}, function () {', syntax],
    ['`', syntax],
    ['const output = 1', syntax],
    ['let input = 1', syntax],
    ['class output {}', syntax],
    ['output = arguments.length', output(2)],
    ['output = arguments[2] === undefined && arguments[0] === input', output(true)],
    ['function arguments() {} output = 1', runtime],
    ['let arguments = 1', runtime],
    ['arguments[1] = 5', output(5)],
    ['var output; output = 3', output(3)],
    ['output = 1 // //# sourceURL=evil', output(1)],
    ['output = (function () { return this === globalThis })()', output(true)],
    ['with ({ a: 1 }) output = a', output(1)],
    ['output = 010', output(8)],
    ['return output = 2', output(2)],
    ['return 5', { output: undefined }],
    ['#!/usr/bin/env node\noutput = 4', output(4)],
    ['output = 1 <!-- html', output(1)],
  ],
}

for (const [topic, list] of Object.entries(attacks))
  for (const [code, end] of list)
    test(`${topic}: ${code.trim().replaceAll(/\s+/g, ' ').slice(0, 100)}`, async () => {
      const ended = await runIsolate({ source: code })
      if ('failed' in end) {
        assert.equal(ended.state, 'failed', JSON.stringify(ended))
        assert.equal(ended.kind, end.failed, JSON.stringify(ended))
      } else {
        assert.equal(ended.state, 'completed', JSON.stringify(ended))
        assert.deepEqual('output' in ended ? ended.output : undefined, end.output)
      }
    })
