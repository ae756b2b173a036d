/**
 * A bare realm hides names. Code with a single object of the harness's own realm could reach them all again through its
 * constructor's constructor. So these tests traverse the graph of every object that a program can reach.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { layBait } from '../../support/hostile/bait.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { secret, secretFile, port, countConnections } = await layBait()

const guests = await useLazaret()

/** `seize(value)` follows a value to everything that it references, and reports any object of another realm. */
const seize = `
const { getPrototypeOf, getOwnPropertyDescriptor, prototype: root } = Object
const { ownKeys, get } = Reflect, say = console.log
let rootsMatter = true
const seen = new Set(), has = Function.prototype.call.bind(seen.has), add = Function.prototype.call.bind(seen.add)
const exploit = (global) => {
  try { say('ENVIRONMENT ' + JSON.stringify(global.process.env)) } catch {}
  try { say('FILE ' + global.process.getBuiltinModule('node:fs').readFileSync(${JSON.stringify(secretFile)}, 'utf8')) } catch {}
  try { global.process.getBuiltinModule('node:net').connect(${port}, '127.0.0.1') } catch {}
}
const look = (one, path) => {
  let top = one
  for (let next = one; next !== null; next = getPrototypeOf(next)) top = next
  if (top !== root && top !== one && rootsMatter) say('ALIEN ' + path + ' has another root')
  for (const maker of [() => one.constructor, () => one.constructor.constructor]) {
    let global
    try { global = maker()('return globalThis')() } catch { continue }
    if (typeof global !== 'object' || global === null || typeof global.Object !== 'function' || global === globalThis) continue
    say('ALIEN ' + path + ' makes code in another realm')
    exploit(global)
  }
}
const seize = (value, name = 'value') => {
  const waiting = [[value, name]]
  while (waiting.length > 0) {
    const [one, path] = waiting[waiting.length - 1]
    waiting.length--
    if (one === null || (typeof one !== 'object' && typeof one !== 'function') || has(seen, one)) continue
    add(seen, one)
    look(one, path)
    const push = (next, step) => { waiting[waiting.length] = [next, path + step] }
    try {
      push(getPrototypeOf(one), '.__proto__')
      const keys = ownKeys(one)
      for (let index = 0; index < keys.length; index++) {
        const { value, get: getter, set: setter } = getOwnPropertyDescriptor(one, keys[index])
        push(value, '.' + String(keys[index])); push(getter, '.get ' + String(keys[index])); push(setter, '.set ' + String(keys[index]))
        if (getter) try { push(get(one, keys[index]), '.' + String(keys[index])) } catch (e) { push(e, '!' + String(keys[index])) }
      }
    } catch (thrown) { push(thrown, '!') }
  }
}
const seizeAll = (list, name) => { for (let index = 0; index < list.length; index++) seize(list[index], name + index) }
const taking = (name) => function (...list) { seize(this, name + ' this'); seizeAll(list, name); seize(arguments, name + ' arguments'); try { seize(taking.caller); seize(arguments.callee.caller) } catch {} }
/** A function that seizes its caller and its arguments. The engine itself creates the argument list of a proxy. */
const trap = (name, result) => new Proxy(function () {}, {
  apply(target, self, list) { seize(self, name); seize(list, name + ' list'); return typeof result === 'function' ? result() : result },
  construct(target, list, made) { seize(list, name); seize(made, name); return {} },
})
const everyTrap = (name, target = {}) => {
  const traps = {}
  for (const key of ownKeys(Reflect)) if (typeof key === 'string') traps[key] = (...list) => { seize(list, name + ' ' + key); return Reflect[key](...list) }
  return new Proxy(target, new Proxy(traps, { get(from, key, handler) { seize(handler, name); return from[key] } }))
}
const sloppy = Function('seize', 'seize(arguments.callee.caller, "caller"); seize(this === globalThis ? null : this, "this"); for (const one of arguments) seize(one, "argument")').bind
`

const hidden =
  'process Bun Buffer require fetch global self window setTimeout setInterval setImmediate queueMicrotask structuredClone ' +
  'WebAssembly ShadowRealm Worker URL TextEncoder performance navigator crypto module exports __filename Deno postMessage ' +
  'WebSocket XMLHttpRequest AbortController EventTarget Event Blob $lazaret $lazaret2 babelHelpers'
const names = JSON.stringify(hidden.split(' '))
const typesOf = `${names}.filter((name) => NAME(name) !== 'undefined').join()`

/** Ways to the global object, or to code in the global scope. None of them may find the hidden names. */
const ways: Readonly<Record<string, string>> = {
  'the names themselves': typesOf.replace('NAME(name)', '(0, eval)(`typeof ${name}`)'),
  globalThis: typesOf.replace('NAME(name)', 'typeof globalThis[name]'),
  'Function("return this")()': typesOf.replace('NAME(name)', 'typeof Function("return this")()[name]'),
  'indirect eval of this': typesOf.replace('NAME(name)', 'typeof (0, eval)("this")[name]'),
  AsyncFunction: `const found = []; for (const name of ${names}) if (await (async () => {}).constructor('return typeof ' + name)() !== 'undefined') found.push(name); found.join()`,
  GeneratorFunction: typesOf.replace(
    'NAME(name)',
    '(function* () {}).constructor(`return typeof ${name}`)().next().value',
  ),
  'the constructor of a constructor': typesOf.replace(
    'NAME(name)',
    '[].constructor.constructor(`return typeof ${name}`)()',
  ),
  'the constructor of a method of the console': typesOf.replace(
    'NAME(name)',
    'console.log.constructor(`return typeof ${name}`)()',
  ),
  'the constructor of an error that the engine threw': `let caught; try { null.x } catch (thrown) { caught = thrown }\n${typesOf.replace('NAME(name)', 'caught.constructor.constructor(`return typeof ${name}`)()')}`,
  'this of a sloppy function': typesOf.replace(
    'NAME(name)',
    'typeof Function("return (function () { return this })()")()[name]',
  ),
  'this of the program': typesOf.replace('NAME(name)', 'typeof (this ?? {})[name]'),
  'a getter on Object.prototype': `let self; Object.defineProperty(Object.prototype, 'road', { get() { self = this }, configurable: true }); Function('road')();\n${typesOf.replace('NAME(name)', 'typeof (self ?? globalThis)[name]')}`,
}

/** Each seizes the objects that it can get. */
const attacks: Readonly<Record<string, string>> = {
  'everything that hangs on the global object': `seize(globalThis, 'globalThis'); seize(console, 'console'); seize(input, 'input')`,
  'a realm in the realm': `try { say(new ShadowRealm().evaluate('typeof Bun')) } catch (e) { seize(e) }\ntry { say(Function('return new ShadowRealm()')().evaluate('typeof Bun')) } catch (e) { seize(e) }`,
  'import()': `for (const name of ['node:fs', 'fs', 'bun', 'bun:ffi', 'bun:jsc', './a.js', 'file:///etc/passwd', 'data:text/javascript,export default globalThis', 'https://example.com/a.js', ''])
    try { const got = import(name); seize(got, 'promise'); seize(await got, 'module'); say('LOADED ' + name) } catch (e) { seize(e, name) }`,
  'import() out of made code': `const makers = [Function, eval, (async () => {}).constructor, (function* () {}).constructor, (async function* () {}).constructor]
    for (const maker of makers) for (const text of ['import("node:fs")', 'return import("node:fs")', 'yield import("node:fs")'])
      try { let got = maker(text); seize(got); if (typeof got === 'function') got = got(); if (got.next) got = got.next(); seize(got); const value = await got; seize(value); if (value?.value === undefined) seize(await value?.value) } catch (e) { seize(e, text) }
    for (const text of ['import("node:fs")']) try { seize(await Promise.resolve(text).then(eval)) } catch (e) { seize(e) }`,
  'import() with options of its own': `for (const options of [{ with: { type: 'json' } }, everyTrap('options', { with: everyTrap('with', { type: 'json' }) }), { get with() { throw new Proxy({}, {}) } }, 5, { with: 5 }, { with: { type: trap('type') } }])
      try { seize(await import('/workspace/a.json', options)); say('LOADED') } catch (e) { seize(e, 'options') }
    for (const name of [Symbol('a'), { toString: trap('name', 'node:fs') }, everyTrap('name'), null]) try { seize(await import(name)); say('LOADED') } catch (e) { seize(e, 'name') }
    for (const text of ['import.defer("node:fs")', 'import.source("node:fs")']) try { seize(await eval(text)); say('LOADED') } catch (e) { seize(e, text) }`,
  'static imports': `import fs from 'node:fs'\nseize(fs); say('LOADED')`,
  'import.meta': `seize(import.meta, 'meta'); say('META ' + Object.keys(import.meta)); await 0`,
  'the names of what a module is compiled to': `await 0; for (const name of ['$lazaret', '$lazaret1', '$lazaret2', '$lazaret3', 'imports', 'arguments']) try { seize(eval(name), name) } catch (e) { seize(e) }`,
  'frames of a stack, by Error.prepareStackTrace': `const prepare = (error, frames) => { say('FRAMES'); seize(frames, 'frames'); for (const frame of frames) for (const key of ownKeys(getPrototypeOf(frame))) try { seize(frame[key](), key) } catch (e) { seize(e) } ; return frames }
    const tries = [() => { Error.prepareStackTrace = prepare }, () => Object.defineProperty(Error, 'prepareStackTrace', { value: prepare }), () => Reflect.set(Error, 'prepareStackTrace', prepare), () => Reflect.deleteProperty(Error, 'prepareStackTrace'),
      () => { Error.prototype.prepareStackTrace = prepare }, () => { Function.prototype.prepareStackTrace = prepare }, () => { Object.prototype.prepareStackTrace = prepare }, () => { TypeError.prepareStackTrace = prepare }, () => { globalThis.Error = class extends Error { static prepareStackTrace = prepare } }, () => { Error.stackTraceLimit = Infinity }]
    const Own = Error
    for (const attempt of tries) { try { attempt() } catch (e) { seize(e, 'attempt') }
      for (const make of [() => new Own('a'), () => new Error('a'), () => new TypeError('a'), () => { try { null.x } catch (e) { return e } }, () => { const o = {}; Own.captureStackTrace(o); return o }, () => { const o = {}; Error.captureStackTrace?.(o, seize); return o }]) { const made = make(); seize(made.stack, 'stack'); seize(made, 'error'); seize(getOwnPropertyDescriptor(made, 'stack'), 'stack') } }
    try { await import('x') } catch (e) { seize(e.stack); seize(e) }`,
  'the function that writes stacks': `const write = Error.prepareStackTrace; seize(write, 'write'); try { seize(write(everyTrap('error'), [everyTrap('frame')]), 'written') } catch (e) { seize(e, 'write') }\ntry { seize(write(null, null)) } catch (e) { seize(e) }`,
  'whoever calls: caller, callee': `const spy = Function('seize', 'return function spy() { try { seize(spy.caller, "spy.caller") } catch (e) { seize(e) } try { seize(arguments.callee.caller, "callee.caller") } catch (e) { seize(e) } try { seize(spy.arguments, "spy.arguments") } catch (e) { seize(e) } return "a" }')(seize)
    spy(); console.log({ toJSON: spy }); console.count({ toString: spy }); await { then(done) { spy(); done() } }
    class Own { static [Symbol.hasInstance] = spy; get a() { return spy() } }; console.log(new Own()); ({ get value() { return spy() }, toJSON: spy })`,
  'a program that is called by nobody': `const spy = Function('return (function f() { let at = f; const all = []; for (let i = 0; i < 20 && at; i++) { try { at = at.caller } catch (e) { all.push(e); break } all.push(at) } return all })()'); seize(spy(), 'callers')`,
  'what the console does with a proxy': `for (const method of ownKeys(console)) if (typeof console[method] === 'function') try { console[method](everyTrap('logged ' + String(method)), everyTrap('also')); console[method](everyTrap('list', []), everyTrap('function', () => {})) } catch (e) { seize(e, String(method)) }`,
  'what the console does with getters and methods that are proxies': `const value = { get a() { return 1 }, toJSON: trap('toJSON', () => ({ b: { get c() { throw everyTrap('thrown') } } })) }
    Object.defineProperty(value, 'd', { get: trap('getter', 5), enumerable: true })
    console.log(value, { toString: trap('toString', 'a') }); console.count({ [Symbol.toPrimitive]: trap('toPrimitive', 'label') }); console.time({ toString: trap('label', 'a') }); console.timeEnd({ toString: trap('label', 'a') })
    console.dir(value, everyTrap('options', { depth: 1 })); console.table(everyTrap('rows', [{ a: 1 }]), everyTrap('columns', ['a'])); console.assert(false, everyTrap('claim')); console.trace(everyTrap('trace')); console.group(everyTrap('group'))`,
  'this of the methods of the console': `for (const method of ownKeys(console)) if (typeof console[method] === 'function') for (const self of [undefined, null, 5, everyTrap('self'), globalThis]) try { seize(Reflect.apply(console[method], self, [1, 2]), 'returned') } catch (e) { seize(e) }
    for (const method of ownKeys(console)) if (typeof console[method] === 'function') try { seize(new console[method](), 'made') } catch (e) { seize(e) }`,
  'the then of the value': `const value = { get then() { return function (resolve, reject) { seize(this); seize(resolve, 'resolve'); seize(reject, 'reject'); seize(arguments); resolve(everyTrap('resolved', { then: undefined })) } } }; value`,
  'a then that is a proxy': `say('tried'); ({ then: new Proxy(function () {}, { apply(target, self, list) { seize(list, 'then'); seizeAll(list, 'then'); list[0]({ then: trap('again') }) } }) })`,
  'a value that is a proxy': `say('tried'); everyTrap('result', { a: 1, b: [everyTrap('inner', []), everyTrap('function', () => {})], then: undefined })`,
  'a value with getters and methods that are proxies': `const value = { list: [], map: new Map([[1, { toJSON: trap('toJSON in a map', 1) }]]), error: new Error('a') }
    for (const name of ['a', 'then', '$type']) Object.defineProperty(value, name, { get: trap('getter ' + name), enumerable: true })
    for (const name of ['name', 'message', 'stack', 'cause', 'errors']) Object.defineProperty(value.error, name, { get: trap('error ' + name, 'text'), enumerable: true })
    value[Symbol.toStringTag] = 'Tag'; value.toString = trap('toString', 'a'); value.toJSON = trap('toJSON', () => ({ again: value.error, tagged: { get [Symbol.toStringTag]() { return 'T' }, toString: trap('tag', 'a') } })); say('tried'); value`,
  'built-ins of the realm, replaced before a value is read': `const real = Reflect.apply
    for (const owner of [Function.prototype, Object, Reflect, Array.prototype, Array, String.prototype, Map.prototype, Set.prototype, WeakMap.prototype, Promise.prototype, Promise, JSON, Symbol.prototype, Error.prototype, RegExp.prototype, Number.prototype, Date.prototype, Object.prototype])
      for (const key of ownKeys(owner)) { const found = getOwnPropertyDescriptor(owner, key); if (typeof found.value !== 'function' || key === 'constructor' || !found.writable) continue
        const old = found.value; let busy = false
        Object.defineProperty(owner, key, { ...found, value: function (...list) { if (!busy) { busy = true; try { seize(this, 'patched ' + String(key)); seizeAll(list, 'patched ' + String(key)) } finally { busy = false } } return real(old, this, list) } }) }
    console.log({ a: 1 }, [1], new Map([[1, 2]])); console.group('a'); console.table([{ a: 1 }]); console.count(); say('tried'); Promise.resolve({ a: [1, new Date(0), new Map([[1, new Set([2])]]), new Error('x'), new Uint8Array(3)] })`,
  'setters on Object.prototype and Array.prototype': `for (const name of ['level', 'text', 'start', 'input', 'resultBytes', 'json', 'parent', 'step', 'depth', 'name', 'message', 'stack', 'kind', 'value', 'get', 'set', '0', '1', 'replace', 'maxBytes', 'importModuleDynamically', 'filename', 'displayErrors', 'then'])
      for (const owner of [Object.prototype, Array.prototype]) Object.defineProperty(owner, name, { set(value) { seize(this, 'set ' + name); seize(value, 'set ' + name) }, get() { seize(this, 'get ' + name); return undefined }, configurable: true })
    console.log({ a: 1 }); say('tried'); try { await import('x') } catch (e) { seize(e) }; ({ b: [1] })`,
  'iterators, species and constructors replaced': `Array.prototype[Symbol.iterator] = function* () { seize(this, 'iterated') }; Object.defineProperty(Array, Symbol.species, { get() { return trap('species') } }); Object.defineProperty(Promise, Symbol.species, { get() { return trap('promise species') } })
    const promise = Promise.resolve(1); promise.constructor = trap('constructor'); Promise.prototype.constructor = trap('shared constructor'); RegExp.prototype.exec = taking('exec'); console.log([1, 2], promise); say('tried'); promise`,
  'a stack that is used up in the console': `for (let width = 0; width < 60; width++) { const names = Array.from({ length: width }, (_, index) => 'a' + index).join()
      for (const logged of ['a', { b: [1] }]) Function('log', 'logged', 'met', \`const dive = (\${names}) => { try { dive(\${names.replaceAll('a', '')}) } catch (thrown) { met(thrown); log(logged) } }; dive()\`)(console.log, logged, (thrown) => { if (!(thrown instanceof Error)) seize(thrown) }) }`,
  'a stack that is used up in import()': `const dive = () => { try { dive() } catch (thrown) { seize(thrown) } const got = import('a'); got.catch((e) => seize(e, 'overflow in import')); seize(got) }; try { dive() } catch (thrown) { seize(thrown) } await 0; await 0`,
  'a stack that is used up in an import() of code that no code has made': `rootsMatter = false; let strange = 0
    const load = await Promise.resolve('return import("a")').then(Function)
    for (let width = 0; width < 60; width++) { const names = Array.from({ length: width }, (_, index) => 'a' + index).join()
      Function('load', 'met', \`const dive = (\${names}) => { try { dive(\${names.replaceAll('a', '')}) } catch {} load().catch(met) }; try { dive() } catch {}\`)(load, (e) => { if (e instanceof Error) return; strange++; if (strange < 20) { seize(e); seize(e.stack) } }); await 0 }
    await 0; await 0; say('STRANGE ' + strange)`,
  'what such an error leads to': `const met = []
    const load = await Promise.resolve('return import("a")').then(Function)
    for (let width = 0; width < 60 && met.length < 3; width++) { const names = Array.from({ length: width }, (_, index) => 'a' + index).join()
      Function('load', 'met', \`const dive = (\${names}) => { try { dive(\${names.replaceAll('a', '')}) } catch {} load().catch(met) }; try { dive() } catch {}\`)(load, (e) => { if (!(e instanceof Error)) met.push(e) }); await 0 }
    await 0; await 0; say('STRANGE ' + met.length)
    const waiting = met.map((error) => [error, 'error']), known = new Set()
    while (waiting.length > 0) { const [one, path] = waiting.pop()
      if (one === null || (typeof one !== 'object' && typeof one !== 'function') || known.has(one)) continue
      known.add(one)
      if (path !== 'error' && (Reflect.set(one, 'message', 'patched') || Reflect.defineProperty(one, 'patched', { value: 1 }) || Reflect.setPrototypeOf(one, {}))) say('CHANGED ' + path)
      waiting.push([getPrototypeOf(one), path + '.__proto__'])
      for (const key of ownKeys(one)) { const found = getOwnPropertyDescriptor(one, key)
        for (const next of [found.value, found.get, found.set]) waiting.push([next, path + '.' + String(key)]) }
      if (typeof one !== 'function' || known.size > 2000) continue
      say('LEADS ' + path)
      for (const self of ['a', 1, true, 1n, Symbol(), {}, [], one]) try { waiting.push([one.call(self), path + '()']) } catch (e) { waiting.push([e, path + '!']) } }`,
  'errors of every kind': `for (const attempt of [() => null.x, () => undefined(), () => eval('}'), () => Function('}'), () => new Array(-1), () => JSON.parse('{'), () => 1n + 1, () => BigInt('x'), () => decodeURI('%'), () => new RegExp('('), () => Symbol() + '', () => 'a'.repeat(-1), () => new Proxy(1, {}), () => Reflect.construct(1), () => new Intl.DateTimeFormat('x-'), () => { let a = a }, () => structuredClone({}), () => Object.defineProperty(1, 'a', {}), () => new Uint8Array(-1), () => new SharedArrayBuffer(-1), () => Atomics.wait(new Int32Array(4), 0, 0), () => 'a'.normalize('x'), () => (function f() { f() })(), () => new WeakRef(1), () => class extends null { constructor() { super() } }, () => Promise(), () => Promise.resolve.call(1), () => [].reduce(() => {}), () => 'x'.repeat(2 ** 29).repeat(16)])
      try { seize(attempt(), 'returned') } catch (thrown) { seize(thrown, 'thrown'); seize(thrown.stack) }
    for (const make of [() => Promise.reject(new Error('a')), () => Promise.any([]), () => Promise.all(5), () => Array.fromAsync?.(5), () => (async () => null.x)(), () => Promise.all([Promise.reject(everyTrap('reason'))])]) try { const got = make(); seize(got, 'promise'); await got } catch (thrown) { seize(thrown, 'rejected') }`,
  'waiting in Atomics': `const cell = new Int32Array(new SharedArrayBuffer(8)); const { value } = Atomics.waitAsync?.(cell, 0, 0, 20) ?? {}; seize(value, 'waiting'); seize(await value, 'waited'); Atomics.wait(cell, 0, 0, 1); try { seize(Atomics.waitAsync?.(cell, 0, 0, { valueOf: trap('timeout', 1) })) } catch (e) { seize(e) }`,
  'what engines call later': `Promise.resolve(1).then(trap('then')).catch(trap('catch')).finally(trap('finally')); const registry = new FinalizationRegistry(trap('finalized')); for (let i = 0; i < 2000; i++) registry.register({ i }, everyTrap('held'))
    Promise.resolve({ then: trap('thenable') }); Promise.reject(1).catch(trap('caught')); await 0; let filler = []; for (let i = 0; i < 300; i++) { filler.push(new Array(10000).fill(i)); if (i % 50 === 0) filler = [] ; await 0 }
    for await (const one of { [Symbol.asyncIterator]: trap('iterator', () => ({ next: trap('next', () => ({ done: true })) })) }) seize(one)`,
  'what is thrown at the top': `say('tried'); throw everyTrap('thrown', { message: 'a' })`,
  'an error with getters that are proxies': `const error = new Error('a'); for (const name of ['name', 'message', 'stack', 'cause', 'toString', 'line', 'column', 'sourceURL']) Object.defineProperty(error, name, { get: trap('thrown ' + name, 'text') }); say('tried'); throw error`,
  'an error whose prototype is a proxy': `const error = new Error('a'); Object.setPrototypeOf(error, everyTrap('prototype', Error.prototype)); say('tried'); throw error`,
  'a rejection that nobody handles': `say('tried'); const reason = everyTrap('reason', { message: 'a' }); Promise.reject(reason); class Own extends Promise { then(...list) { seizeAll(list, 'own then'); return super.then(...list) } }; new Own((resolve, reject) => { seizeAll([resolve, reject], 'executor'); reject(reason) }); 1`,
  'texts that tell where the harness lies': `const texts = [new Error('a').stack, String(Error.prepareStackTrace)]; const walk = (depth) => { try { if (depth > 0) walk(depth - 1); else null.x } catch (e) { texts.push(e.stack, String(e.sourceURL), String(e.fileName)); throw e } }
    try { walk(3) } catch (e) { texts.push(e.stack) } try { await import('./nothing.js') } catch (e) { texts.push(e.stack, e.message) } try { JSON.parse('{') } catch (e) { texts.push(e.stack, e.message) } try { [1].map(() => { null.x }) } catch (e) { texts.push(e.stack) } try { console.count(Symbol()) } catch (e) { texts.push(e.stack, e.sourceURL) }
    for (const text of texts) if (/guest-|opt.lazaret|node:|harness|\\/dist\\//.test(text)) say('PATH ' + text)`,
}

for (const runtime of ['bun'] as const) {
  const run = (code: string) =>
    guests.run({
      language: 'javascript',
      runtime,
      realm: 'bare',
      code,
      input: { a: [1, new Date(0), new Map([[1, new Uint8Array(2)]])] },
      limits: { wallMs: 60_000 },
    })

  for (const [name, code] of Object.entries(ways)) {
    test(`${runtime}: none of the hidden names is found by way of ${name}`, async () => {
      const { outcome, value } = await run(code)
      assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 })
      assert.equal(value, '')
    })
  }

  for (const [name, code] of Object.entries(attacks)) {
    test(`${runtime}: nothing of another realm is reached by way of ${name}`, async () => {
      const isStatic = code.startsWith('import ')
      const program = isStatic ? code.replace('\n', `\n${seize}\n`) : `${seize}\n${code}`
      const result = await run(isStatic ? program : `${program.replace(/;?\s*$/, '')}`)
      const texts = result.logs.map(({ text }) => text)
      const betrayed = texts.filter((text) =>
        /^(ALIEN|ENVIRONMENT|FILE|LOADED|FRAMES|PATH|LEADS|CHANGED|META .)/.test(text),
      )
      assert.deepEqual(betrayed, [])
      assert.doesNotMatch(JSON.stringify(result), new RegExp(secret))
      assert.notEqual(result.outcome.kind, 'timed-out')
      assert.notEqual(result.outcome.kind, 'syntax-error', JSON.stringify(result.outcome))
      assert.equal(countConnections(), 0)
    })
  }
}
