/** What a program can reach: the language without ways out of it, and no object of the harness or isolated-vm. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ampleMs } from '../../support/patient-run.ts'
import { runIsolate } from './isolate.ts'

/** The globals of the tested engine. A new name needs a review before it is added here. */
const globals =
  'AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date ' +
  'DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array ' +
  'Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect RegExp ' +
  'Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array Uint8Array Uint8ClampedArray ' +
  'WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN ' +
  'parseFloat parseInt undefined unescape'
const added =
  '$imprt TextDecoder TextEncoder URL URLSearchParams atob btoa console crypto fetch queueMicrotask require structuredClone'

test('exactly these global names exist', async () => {
  const ended = await runIsolate({
    source: 'output = Reflect.ownKeys(globalThis).map(String).sort().join(" ")',
  })
  assert.equal(ended.state, 'completed')
  const names = [...globals.split(' '), ...added.split(' ')]
  assert.equal('output' in ended ? ended.output : '', names.sort().join(' '))
})

/**
 * Wraps the inside: it remembers what no program may get, lets the program ask whether an object is one of these, and
 * plants one.
 */
const withSecrets = `function (...given) {
  const secrets = new Set([...given, ...lazaretTaken, SharedArrayBuffer, WebAssembly, Atomics.wait])
  const inside = ($text)(...given)
  for (const each of [inside, ...Object.values(inside)]) secrets.add(each)
  globalThis.$planted = { deep: { get given() { return given[0] } } }
  globalThis.$isSecret = (value) => secrets.has(value)
  return inside
}`

/** Traverses everything from some values: properties, results of getters, prototypes, callers. */
const walk = `
  const found = new Map()
  const waiting = []
  const note = (value, path) => {
    const isThing = (typeof value === 'object' && value !== null) || typeof value === 'function'
    if (!isThing || found.has(value)) return
    found.set(value, path)
    waiting.push(value)
  }
  function walkAll(roots) {
    for (const [name, value] of Object.entries(roots)) note(value, name)
    while (waiting.length > 0) {
      const value = waiting.pop()
      const path = found.get(value)
      if (value === $isSecret) continue
      try { note(Object.getPrototypeOf(value), path + '.__proto__') } catch {}
      for (const key of ['caller', 'callee', 'arguments', 'constructor', Symbol.species])
        try { note(value[key], path + '.' + String(key)) } catch (error) { note(error, path + '.thrown') }
      let keys = []
      try { keys = Reflect.ownKeys(value) } catch {}
      for (const key of keys) {
        const at = path + '.' + String(key)
        const descriptor = Reflect.getOwnPropertyDescriptor(value, key)
        note(descriptor.value, at)
        note(descriptor.get, at + '.get')
        note(descriptor.set, at + '.set')
        try { note(value[key], at) } catch (error) { note(error, at + '.thrown') }
      }
    }
    return [...found].filter(([value]) => $isSecret(value)).map(([, path]) => path)
  }`

test('no object of the harness is reachable from the objects of a program', async () => {
  const source = `${walk}
    const roots = { global: globalThis, scope: this, args: arguments }
    const keep = (name, make) => { try { roots[name] = make() } catch (error) { roots[name + '!'] = error } }
    for (const name of Object.getOwnPropertyNames(globalThis)) {
      const value = globalThis[name]
      if (typeof value !== 'function' || name === '$isSecret') continue
      keep(name + '()', () => value())
      keep('new ' + name, () => new value())
      keep(name + '(null)', () => value(null))
      keep(name + '("x")', () => value('x'))
    }
    for (const name of ['lodash', 'uuid', 'fs', 'nothing', '__proto__']) keep('require ' + name, () => require(name))
    keep('console', () => console.log({ toJSON() { roots.consoleThis = this; roots.consoleArguments = arguments; return 1 } }))
    keep('trace', () => console.trace('a'))
    keep('stack', () => { const holder = {}; Error.captureStackTrace(holder); return holder })
    keep('prepare', () => Error.prepareStackTrace)
    keep('deep', () => { const deep = () => deep(); deep() })
    keep('clone', () => structuredClone({ get a() { roots.cloneThis = this; return new Map([[{}, new Error('a')]]) } }))
    keep('random', () => crypto.getRandomValues(new Uint8Array(4)))
    keep('random!', () => crypto.getRandomValues({}))
    keep('bridge', () => bridge)
    roots.promise = bridge.give({ toJSON() { roots.callThis = this; return 1 } })
    roots.given = await roots.promise
    try { await bridge.fail() } catch (error) { roots.failed = error }
    try { await bridge.give(Symbol()) } catch (error) { roots.refused = error }
    for (const maker of [function () {}, async () => {}, function* () {}, async function* () {}]) {
      roots['prototype of ' + maker] = Object.getPrototypeOf(maker)
      keep('call of ' + maker, () => maker())
    }
    const secrets = walkAll(roots)
    output = { secrets, count: found.size }`
  const functions = {
    give: () => ({ a: [1] }),
    fail: () => {
      throw new TypeError('no')
    },
  }
  const ended = await runIsolate({ source, functions, around: withSecrets, timeoutMs: ampleMs })
  assert.ok('output' in ended, JSON.stringify(ended).slice(0, 1000))
  const { secrets, count } = ended.output as { secrets: string[]; count: number }
  // The planted one proves that the walk finds them.
  assert.deepEqual(secrets, ['global.$planted.deep.given'])
  assert.ok(count > 1500, `${count} objects`)
})

test('a stack formatter gets no frame of the harness, and the program cannot replace that of the harness', async () => {
  const source = `
    const frames = []
    const write = Error.prepareStackTrace
    Error.prepareStackTrace = (error, list) => { frames.push(...list); return 'mine' }
    const all = []
    try { require('fs') } catch (error) { all.push(error.stack) }
    try { console.log({ get a() { all.push(new Error('a').stack); return 1 } }) } catch (error) { all.push(error.stack) }
    try { Object.defineProperty(Error, 'prepareStackTrace', { value: () => 'mine' }) } catch (error) { all.push(error.name) }
    output = { frames: frames.length, isSame: write === Error.prepareStackTrace, text: all.join('\\n') }`
  const ended = await runIsolate({ source })
  assert.ok('output' in ended)
  const { frames, isSame, text } = ended.output as { frames: number; isSame: boolean; text: string }
  assert.deepEqual([frames, isSame], [0, true])
  assert.doesNotMatch(text, /lazaret|isolated-vm|mine|file:|node:/)
})

test('no function of the harness is visible as a caller', async () => {
  const source = `
    const seen = []
    function getter() { seen.push(getter.caller, arguments.callee.caller); return 1 }
    console.log({ get a() { return getter() } })
    output = { get b() { return getter() }, toJSON: undefined }
    try { await bridge.give({ get c() { return getter() } }) } catch (error) { seen.push(error) }
    console.log(String(seen.filter((each) => each !== null && typeof each === 'function' && !String(each).includes('getter'))))
    structuredClone({ get a() { return getter() } })
    console.log(seen.every((each) => each === null || String(each).includes('getter')))`
  const ended = await runIsolate({ source, functions: { give: (value) => value } })
  assert.deepEqual(ended.logs, ['[LOG] {"a":1}', '[LOG] ', '[LOG] true'])
})
