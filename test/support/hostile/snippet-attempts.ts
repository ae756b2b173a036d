/** Attempts of a snippet to reach more than the language and its two bindings, each with its expected result. */
import { walkSource } from './snippet-graph.ts'

/** Globals of engines, browsers, Node, Bun, Deno and of this engine's own command. */
export const namesOfOthers: readonly string[] = [
  ...[
    'require',
    'module',
    'exports',
    'process',
    'global',
    'window',
    'self',
    'console',
    'Buffer',
    '__filename',
  ],
  ...['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'clearTimeout', 'requestAnimationFrame'],
  ...[
    'Promise',
    'AsyncFunction',
    'GeneratorFunction',
    'WeakRef',
    'FinalizationRegistry',
    'AsyncDisposableStack',
  ],
  ...[
    'performance',
    'atob',
    'btoa',
    'fetch',
    'XMLHttpRequest',
    'WebSocket',
    'navigator',
    'crypto',
    'Temporal',
  ],
  ...['structuredClone', 'TextEncoder', 'TextDecoder', 'URL', 'URLSearchParams', 'Headers', 'Blob', 'Event'],
  ...['Worker', 'MessageChannel', 'BroadcastChannel', 'SharedArrayBuffer', 'Atomics', 'WebAssembly', 'Intl'],
  ...['eval', 'Deno', 'Bun', 'std', 'os', 'bjson', 'print', 'gc', 'scriptArgs', 'load', 'loadScript', 'quit'],
  ...['InternalError', 'DOMException', 'ShadowRealm', 'importScripts', 'alert', 'prompt', 'AbortController'],
  ...['host_call', '__host', '__loadScript', 'read', 'write', 'readline', 'evalScript', 'navigator', '$262'],
]

const noCompiler = 'EvalError: code cannot be compiled from strings here'

/**
 * A program that collects the functions it finds on the stack, and reports those that it cannot reach in any other way.
 */
export const findStrangers = (collect: string): string => `${walkSource}
  const own = new Set(), found = new Set()
  const note = (fn) => { own.add(fn); return fn }
  const noteAll = note((error, sites) => { for (const site of sites) found.add(site.getFunction()) })
  const look = note(() => {
    Error.prepareStackTrace = noteAll
    try { void new Error('x').stack } finally { Error.prepareStackTrace = undefined }
    return ''
  })
  ;${collect}
  const known = walk()
  const isStranger = (fn) => fn !== undefined && !known.has(fn) && !own.has(fn) && fn.name !== '<eval>'
  const strangers = [...found].filter(isStranger).map((fn) => fn.name + fn)
  globalThis.emit('\\n' + JSON.stringify({ seen: found.size, strangers }))`

/** Function bodies, each with what it returns or throws. */
export const attempts: Readonly<Record<string, string>> = {
  // Compiling code from strings.
  [`return Function('return 1')()`]: noCompiler,
  [`return new Function('return 1')`]: noCompiler,
  [`return Function.call(null, 'return 1')`]: noCompiler,
  [`return Function.apply(null, ['return 1'])`]: noCompiler,
  [`return Function.bind(null)('return 1')`]: noCompiler,
  [`return new Proxy(Function, {})('return 1')`]: noCompiler,
  [`return Reflect.construct(Function, ['return 1'])`]: noCompiler,
  [`return Reflect.construct(Function, ['return 1'], Object)`]: noCompiler,
  [`return Reflect.construct(Object, [], Function)`]: 'TypeError: not a function',
  [`return Reflect.apply(Function, null, ['return 1'])`]: noCompiler,
  [`return Function.prototype.constructor('return 1')`]: noCompiler,
  [`return Function.prototype.constructor.constructor('return 1')`]: noCompiler,
  [`return (() => 1).constructor('return 1')`]: noCompiler,
  [`return emit.constructor('return 1')`]: noCompiler,
  [`return read_input.constructor.prototype.constructor('return 1')`]: noCompiler,
  [`return [].map.constructor('return 1')`]: noCompiler,
  [`return Object.getOwnPropertyDescriptor(RegExp.prototype, 'flags').get.constructor('return 1')`]:
    noCompiler,
  [`return (class {}).constructor('return 1')`]: noCompiler,
  [`return (function* () {}).constructor('yield 1')`]: noCompiler,
  [`return Object.getPrototypeOf(function* () {}).constructor('yield 1')`]: noCompiler,
  [`return new (class extends Function {})('return 1')`]: noCompiler,
  [`return new (Object.getPrototypeOf(class extends Function {}))('return 1')`]: noCompiler,
  [`return Function.prototype.bind.call(Function, null)('return 1')`]: noCompiler,
  [`return ''.sub.bind().constructor('return 1')`]: noCompiler,
  [`return [1].map(Function)`]: noCompiler,
  [`return 'x'.replace('x', Function)`]: noCompiler,
  [`return JSON.parse('1', Function)`]: noCompiler,
  [`return [2, 1].sort(Function)`]: noCompiler,
  [`return Array.from('1', Function)`]: noCompiler,
  [`return (async () => 1).constructor`]: 'undefined',
  [`return (async function* () {}).constructor`]: 'undefined',
  [`return Object.getPrototypeOf(async () => 1)`]: 'null',
  [`return Object.getPrototypeOf(async function* () {})`]: 'null',
  [`return Function.prototype`]: 'function () {\n    [native code]\n}',
  [`return eval('1')`]: 'ReferenceError: eval is not defined',
  [`return (0, eval)('1')`]: 'ReferenceError: eval is not defined',
  [`globalThis.eval = (text) => text; return eval('1 + 1')`]: '1 + 1',
  [`globalThis.eval = Function; return eval('1 + 1')`]: noCompiler,
  [`const eval_ = globalThis['ev' + 'al']; return eval_`]: 'undefined',
  [`return new (globalThis.ShadowRealm)()`]: 'TypeError: not a function',
  // Waiting, and code that runs later.
  [`return (async () => { emit('ran') })()`]: 'TypeError: not a function',
  [`async function f() {} return f()`]: 'TypeError: not a function',
  [`return new (async () => {})()`]: 'TypeError: not a constructor',
  [`return Object.setPrototypeOf(async () => 1, Function.prototype)()`]: 'TypeError: not a function',
  [`return (async function* () {})().next()`]: 'TypeError: not a function',
  [`return ({ async m() {} }).m()`]: 'TypeError: not a function',
  [`return Function.prototype.call.call(async () => 1)`]: 'TypeError: not a function',
  [`return Reflect.apply(async () => 1, null, [])`]: 'TypeError: not a function',
  [`return import('fs')?.then`]: 'undefined',
  [`return Reflect.ownKeys(import('data:text/javascript,1')).length`]: '0',
  [`return Object.getPrototypeOf(import('./x.js'))`]: 'null',
  [`return import('x', { with: { type: 'json' } })?.constructor`]: 'undefined',
  [`return import({ toString() { throw new RangeError('named') } })?.then`]: 'undefined',
  [`return Array.fromAsync`]: 'undefined',
  [`return Symbol.asyncIterator in Object.prototype`]: 'false',
  [`return typeof Iterator.prototype.then`]: 'undefined',
  // The bindings.
  [`return String(emit).split('\\n')[0] + String(read_input).split('\\n')[0]`]: 'emit(text) {read_input() {',
  [`return emit.caller`]: 'TypeError: invalid property access',
  [`return emit.arguments`]: 'TypeError: invalid property access',
  [`return emit.prototype`]: 'undefined',
  [`return new emit('x')`]: 'TypeError: not a constructor',
  [`return Reflect.ownKeys(emit).join() + Reflect.ownKeys(read_input).join()`]: 'length,namelength,name',
  [`return emit.fileName + emit.lineNumber`]: '<bindings>26',
  [`return emit.call({ write: 1 }, '')`]: 'undefined',
  [`return read_input.call(globalThis, 'other') === ''`]: 'true',
  [`return (function f() { return f.caller })()`]: 'undefined',
  [`return (function () { return arguments.callee.caller })()`]: 'undefined',
  [`return (function () { 'use strict'; return arguments.callee })()`]: 'TypeError: invalid property access',
  // Memory through errors, and errors that only the engine may create.
  [`try { (function f() { f() })() } catch (e) { return e.constructor === RangeError }`]: 'true',
  [`const h = []; try { for (;;) h.push(h.concat(h, [1])) } catch (e) { h.length = 0; return e.constructor === Error }`]:
    'true',
  [`const h = []; try { for (;;) h.push(h.concat(h, [1])) } catch (e) { h.length = 0; return Object.getPrototypeOf(e).constructor('x') }`]:
    'Error: x',
  [`return new Error('x').stack.includes('<code>')`]: 'true',
  [`Error.stackTraceLimit = 1e9; return new Error('x').stack.split('\\n').length < 5`]: 'true',
  [`try { null.x } catch (e) { return e.stack.replace(/\\d+:\\d+/g, 'L') }`]:
    '    at eval_ (<code>:L)\n    at <eval> (<code>:L)\n',
  [`try { emit(Symbol()) } catch (e) { return e.stack.replace(/\\d+:\\d+/g, 'L') }`]:
    '    at concat (native)\n    at apply (native)\n    at emit (<bindings>:L)\n    at eval_ (<code>:L)\n    at <eval> (<code>:L)\n',
  // Values that reveal the time, or distinguish two machines.
  [`return Date.now() + new Date().getTimezoneOffset() + performance?.now`]:
    'ReferenceError: performance is not defined',
  [`return new Date().toString()`]: 'Thu Jan 01 1970 00:00:00 GMT+0000',
  [`return new Date(0).toLocaleString()`]: '01/01/1970, 12:00:00 AM',
  [`return (1234567.5).toLocaleString('de')`]: '1234567.5',
  [`return 'ä'.localeCompare('z', 'sv')`]: '1',
  [`return [Math.random(), Math.random()].join()`]: '0.6711372530266764,0.7258461452833667',
  [`return ['x'.link('y'), 'İ'.toLocaleLowerCase('tr').length].join()`]: '<a href="y">x</a>,2',
  [`return new ArrayBuffer(8, { maxByteLength: 16 }).constructor === ArrayBuffer`]: 'true',
  [`return Object.getOwnPropertyNames(ArrayBuffer.prototype).filter((name) => /shared|wait/i.test(name)).join()`]:
    '',
  [`globalThis.globalThis = null; return typeof emit`]: 'function',
  [`return Object.getPrototypeOf(globalThis) === Object.prototype`]: 'true',
  [`Object.prototype.then = () => emit('then'); return 1`]: '1',
  [`return typeof this + (this === globalThis)`]: 'objecttrue',
}

/** Ways to run code of the program while other functions are on the stack. */
export const stackLooks: readonly string[] = [
  'emit({ toString: look })',
  'emit({ [Symbol.toPrimitive]: look })',
  'String.prototype.concat = note(() => ({ length: 0, toString: look })); emit("x"); look()',
  'String.prototype.slice = String.prototype.toString = String.prototype.valueOf = look; emit("x"); look()',
  'Reflect.apply = Function.prototype.apply = Function.prototype.call = look; emit("x"); read_input(); look()',
  'Object.defineProperty(Array.prototype, 0, { get: look, set: look, configurable: true }); emit("x"); look(); delete Array.prototype[0]',
  'Object.defineProperty(String.prototype, 0, { get: look }); emit(""); look()',
  'Error.prepareStackTrace = noteAll; try { emit(Symbol()) } catch {}; Error.prepareStackTrace = undefined',
  'const hold = []; try { for (;;) hold.push("x".repeat(1e5) + hold.length) } catch {} Error.prepareStackTrace = noteAll; try { emit("y".repeat(1e5)) } catch {} try { read_input() } catch {} hold.length = 0; Error.prepareStackTrace = undefined',
  'Error.prepareStackTrace = noteAll; try { (function f() { emit({ toString: f }) })() } catch {} look(); Error.prepareStackTrace = undefined',
  '[2, 1].sort(look); [1].map(look); JSON.stringify({ toJSON: look }); JSON.parse("[1]", look)',
  'new Proxy({}, { get: look }).x; const o = { get x() { return look() } }; note(Object.getOwnPropertyDescriptor(o, "x").get); o.x; "x".replace(/x/, look)',
  'class A extends Array { static get [Symbol.species]() { look(); return Array } } note(A); new A(1).map(look); note(Object.getOwnPropertyDescriptor(A, Symbol.species).get)',
  'try { null.x } catch { look() }',
  'Error.prepareStackTrace = noteAll; Error.captureStackTrace({}, look); Error.captureStackTrace({}, emit); Error.prepareStackTrace = undefined',
]

/** Whole programs, each with its result. */
export const loneStatements: Readonly<Record<string, string>> = {
  'debugger; emit(1)': '1',
  '#!/usr/bin/env node\nemit(1)': '1',
  '<!-- emit(2)\nemit(1)': '1',
  'emit(1) // <!-- emit(2)\n--> emit(3)': '1',
  'import fs from "fs"': "SyntaxError: Unexpected identifier 'fs'",
  'import x from "y" with { type: "json" }': "SyntaxError: Unexpected identifier 'x'",
  'export const x = 1': 'SyntaxError: unsupported keyword: export',
  'emit(import.meta.url)': 'SyntaxError: import.meta only valid in module code',
  'await 1': "SyntaxError: expecting ';'",
  'await using x = null': "SyntaxError: expecting ';'",
  'var emit = 1; emit("x")': 'TypeError: not a function',
  'let emit = (text) => 1; emit("x"); globalThis.emit("y")': 'y',
  'function emit() {} emit("x")': '',
  'emit = null; read_input = null; globalThis.emit?.("x")': '',
  'delete globalThis.emit; delete globalThis.read_input; emit("x")': 'ReferenceError: emit is not defined',
  'Object.defineProperty(globalThis, "emit", { value: (text) => 1 }); emit("x")': '',
  'with ({ emit: () => 1 }) emit("x")': '',
  'globalThis.__proto__ = null; emit("x")': 'x',
  'Object.freeze(globalThis); emit("x")': 'x',
  'Object.setPrototypeOf(Object.prototype, null); emit("x")': 'x',
}
