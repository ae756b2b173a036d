/**
 * Programs that patch the language's built-ins. That may affect their own results, but what is reported about them
 * stays true.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'

const answers = { input: { a: 1 }, functions: { twice: (value: unknown) => Number(value) * 2 } }

/** Makes every function throw or lie that might be called between a program and its outcome. */
const spoiled = `
  const { getOwnPropertyNames } = Object
  const spoil = (owner, names) => {
    for (let index = 0; index < names.length; index++) {
      const name = names[index]
      try { if (name !== 'constructor' && typeof owner[name] !== 'object') owner[name] = () => { throw 'spoiled ' + name } } catch {}
    }
  }
  const owners = [Promise, Math, Number, JSON, Array, String, Reflect]
  for (const kind of [Array, Map, Set, WeakMap, WeakSet, String, RegExp, Date, Number, BigInt, Symbol, Error, Function, Uint8Array, Promise])
    owners[owners.length] = kind.prototype
  owners[owners.length] = Object
  for (let index = 0; index < owners.length; index++) spoil(owners[index], getOwnPropertyNames(owners[index]))
`

const patches: readonly [title: string, code: string][] = [
  ['everything', spoiled],
  [
    'Object.prototype with getters',
    `for (const key of ['get', 'set', 'value', 'writable', 'constructor', 'message', 'lines', 'columns', 'parent'])
      Object.defineProperty(Object.prototype, key, { __proto__: null, get() { throw 'spoiled' }, set() { throw 'spoiled' }, configurable: true })`,
  ],
  [
    'Array.prototype with setters',
    `for (let index = 0; index < 8; index++)
      Object.defineProperty(Array.prototype, index, { get() { throw 'spoiled' }, set() { throw 'spoiled' } })`,
  ],
  ['Promise.prototype.then', 'Promise.prototype.then = () => { throw "spoiled" }'],
  [
    'Promise.prototype.constructor',
    'Promise.prototype.constructor = class { constructor() { throw "spoiled" } }',
  ],
  [
    'Promise[Symbol.species]',
    'Object.defineProperty(Promise, Symbol.species, { get() { throw "spoiled" } })',
  ],
  ['Symbol.iterator', 'Array.prototype[Symbol.iterator] = () => { throw "spoiled" }'],
  ['JSON', 'JSON = { stringify() { throw "spoiled" }, parse() { throw "spoiled" } }'],
  [
    'Error',
    'Error.stackTraceLimit = "a"; Error.captureStackTrace = () => { throw "spoiled" }; globalThis.Error = null',
  ],
  [
    'Function.prototype',
    'Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw "spoiled" }',
  ],
  [
    'every global',
    'for (const name of Object.getOwnPropertyNames(globalThis)) if (!/^(console|bridge|undefined)$/.test(name)) { try { globalThis[name] = null } catch {} }',
  ],
  [
    'a prototype of the global object',
    'Object.setPrototypeOf(Object.prototype.__proto__ ?? globalThis, new Proxy({}, { get() { throw "spoiled" }, has() { return false } }))',
  ],
  [
    'frozen everything',
    'for (const name of Object.getOwnPropertyNames(globalThis)) { const value = globalThis[name]; if (value) { Object.freeze(value); Object.freeze(value.prototype ?? {}) } } Object.freeze(globalThis)',
  ],
]

for (const [title, code] of patches) {
  test(`${title}: output, log and host functions work`, async () => {
    const source = `${code}\n;output = { a: [input.a, 'b'], b: await bridge.twice(21) }\nconsole.log('text', 1, { a: [1, true] })`
    const ended = await runIsolate({ source, ...answers })
    assert.deepEqual(ended, {
      state: 'completed',
      output: { a: [1, 'b'], b: 42 },
      logs: ['[LOG] text 1 {"a":[1,true]}'],
    })
  })

  test(`${title}: an error is an error`, async () => {
    const ended = await runIsolate({
      source: `const Own = TypeError\n${code}\n;throw new Own('mine')`,
      ...answers,
    })
    assert.equal(ended.state, 'failed', JSON.stringify(ended))
    assert.deepEqual([ended.kind, ended.error.message], ['runtime', 'mine'])
  })

  test(`${title}: a security error is recognized`, async () => {
    const ended = await runIsolate({ source: `const own = require\n{${code}\n}own('fs')`, ...answers })
    assert.equal(ended.state, 'failed', JSON.stringify(ended))
    assert.deepEqual(
      [ended.kind, ended.error.message],
      ['security', "Security Error: Module 'fs' is not allowed in sandboxed code"],
    )
  })

  test(`${title}: a value of a program is encoded`, async () => {
    const source = `(() => { const kept = [new Map([[1, new Date(0)]]), 5n]\n${code}\n;return kept })()`
    const ended = await runIsolate({ source, mode: 'run' })
    assert.equal(ended.state, 'completed', JSON.stringify(ended))
    assert.ok('value' in ended && Array.isArray(ended.value) && ended.value.length === 2)
  })
}

test('an error with the text of a security error is not one', async () => {
  const message = "Security Error: Module 'fs' is not allowed in sandboxed code"
  for (const source of [
    `throw new Error(${JSON.stringify(message)})`,
    `Promise.reject(new Error(${JSON.stringify(message)}))`,
  ]) {
    const ended = await runIsolate({ source })
    assert.equal(ended.state, 'failed')
    assert.deepEqual([ended.kind, ended.error.message], ['runtime', message])
  }
})

test('a program that runs out of stack gets its own engine’s error, and continues', async () => {
  const source = `
    const names = new Set()
    const calls = [() => console.log('a'), () => require('uuid'), () => require('fs'), () => crypto.randomUUID(),
      () => structuredClone([[[1]]]), () => bridge.twice(1), () => eval('1'), () => new Function(), () => new TextEncoder().encode('a'), () => new Error('a').stack]
    for (const call of calls) {
      let left = 60
      const deep = () => {
        try { deep() } catch {}
        if (left-- < 0) return
        try { const made = call(); if (made instanceof Promise) made.catch(() => {}) } catch (error) {
          if (!(error instanceof Error)) names.add('foreign ' + String(error))
          else if (Object.getPrototypeOf(Object.getPrototypeOf(error)) !== Error.prototype && Object.getPrototypeOf(error) !== Error.prototype) names.add('odd')
          else names.add(error.name)
          const maker = error.constructor.constructor
          if (maker !== Function) names.add('another realm')
        }
      }
      deep()
    }
    output = [...names].sort()`
  const ended = await runIsolate({ source, ...answers, timeoutMs: 60_000 })
  assert.equal(ended.state, 'completed', JSON.stringify(ended).slice(0, 500))
  // The parser of regular expressions reports a syntax error if it runs out of stack.
  const allowed = ['Error', 'RangeError', 'SecurityError', 'SyntaxError']
  const names = ('output' in ended ? ended.output : []) as string[]
  assert.deepEqual(
    names.filter((name) => !allowed.includes(name)),
    [],
  )
})
