/**
 * CE-001 to CE-005: known vulnerabilities of actors that execute code in a separate process. Each finding has
 * the escapes that proved it, tried through the actor.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { useActor } from '../../adapters/actor/use-actor.ts'
import { layBait } from '../../support/hostile/bait.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { ampleMs } from '../../support/patient-run.ts'

const { secret, secretFile, port, countConnections } = await layBait()

// After the bait, so that the leak check does not report it.
const { ask, execute, fail, guests } = await useActor()

/** What hostile code does with a foreign global object. `null` if it found nothing. */
const loot = `
const loot = async (global) => {
  const found = []
  const take = async (name, get) => { try { const got = await get(); if (got !== undefined && got !== null) found.push(name + ': ' + String(got).slice(0, 500)) } catch {} }
  await take('names', () => ['process', 'Bun', 'Buffer', 'require', 'fetch', 'setTimeout'].filter((name) => typeof global[name] !== 'undefined').join() || null)
  await take('environment', () => JSON.stringify(global.process.env))
  await take('file', () => global.process.getBuiltinModule('node:fs').readFileSync(${JSON.stringify(secretFile)}, 'utf8'))
  await take('bun file', () => global.Bun.file(${JSON.stringify(secretFile)}).text())
  await take('network', () => global.fetch('http://127.0.0.1:${port}'))
  await take('daemon', () => global.process.getBuiltinModule('node:child_process').spawn('setsid', ['sh', '-c', "trap '' TERM INT HUP; while :; do sleep 1; done"], { detached: true, stdio: 'ignore' }).unref() ?? 'started')
  await take('trap', () => global.process.on('SIGTERM', () => {}) && 'trapped')
  return found.length === 0 ? null : found
}
`

/** Expressions that once gave code the global object of the process, or one of its modules. */
const constructorEscapes = [
  `this.constructor.constructor('return globalThis')()`,
  `({}).constructor.constructor('return globalThis')()`,
  `[].constructor.constructor('return globalThis')()`,
  `''.constructor.constructor('return globalThis')()`,
  `(5).constructor.constructor('return globalThis')()`,
  `(() => {}).constructor('return globalThis')()`,
  `Object.getPrototypeOf(console.log).constructor('return globalThis')()`,
  `console.constructor.constructor('return globalThis')()`,
  `Reflect.getPrototypeOf(Reflect.getPrototypeOf(globalThis)).constructor.constructor('return globalThis')()`,
  `(() => { try { null.x } catch (e) { return e.constructor.constructor('return globalThis')() } })()`,
  `(() => { try { console.log({ get a() { throw {} } }); console.count(Symbol()) } catch (e) { return e.constructor.constructor('return globalThis')() } })()`,
  `await import('node:fs').catch((e) => e.constructor.constructor('return globalThis')())`,
  `Promise.resolve().constructor.constructor('return globalThis')()`,
  `new Proxy({}, {}).constructor.constructor('return globalThis')()`,
  `Symbol.constructor.constructor('return globalThis')()`,
  `input?.constructor.constructor('return globalThis')() ?? globalThis`,
]

const functionEscapes = [
  `Function('return this')()`,
  `new Function('return this')()`,
  `(async () => {}).constructor('return this')()`,
  `await (async () => {}).constructor('return globalThis')()`,
  `(function* () {}).constructor('return globalThis')().next().value`,
  `(await (async function* () {}).constructor('return globalThis')().next()).value`,
  `Function.prototype.constructor('return globalThis')()`,
  `Reflect.construct(Function, ['return globalThis'])()`,
  `Reflect.apply(Function, null, ['return globalThis'])()`,
  `Function.call(null, 'return globalThis')()`,
  `Function.bind(null, 'return globalThis')()()`,
  `class extends Function {}.constructor('return globalThis')()`,
  `new (class Own extends Function {})('return globalThis')()`,
  `Function('return import("node:process")')().then((m) => ({ process: m.default }), () => ({}))`,
  `(() => { try { return new ShadowRealm().evaluate('Bun.version') } catch { return {} } })()`,
]

const scopeEscapes = [
  `globalThis`,
  `(0, eval)('this')`,
  `eval('globalThis')`,
  `(function () { return this })() ?? {}`,
  `Function('return (function () { return this })()')()`,
  `typeof self === 'undefined' ? {} : self`,
  `typeof global === 'undefined' ? {} : global`,
  `typeof window === 'undefined' ? {} : window`,
  `[1].map(function () { return this }, undefined)[0] ?? {}`,
  `Array.from({ length: 1 }, Function('return this'))[0]`,
  `JSON.parse('1', Function('return globalThis'))`,
  `'a'.replace('a', Function('globalThis.kept = this; return "b"')) && globalThis.kept`,
  `Object.getOwnPropertyDescriptor(globalThis, 'globalThis').value`,
]

async function isEmptyHanded(escape: string): Promise<void> {
  const { success, payload, error } = await ask({ code: `${loot}\nloot(await (${escape}))`, timeout: 20_000 })
  // An escape that ends with an error counts as one that found nothing.
  if (success) assert.equal(payload?.result, null)
  assert.doesNotMatch(JSON.stringify([payload, error]), new RegExp(secret))
  assert.equal(countConnections(), 0)
  // No started process is alive, whatever signals it ignores.
  await guests.leaks.check()
}

const findings = {
  'CE-001: a chain of constructors': constructorEscapes,
  'CE-002: a constructor of functions': functionEscapes,
  'CE-004: the global scope': scopeEscapes,
}
for (const [finding, escapes] of Object.entries(findings)) {
  suite(finding, () => {
    for (const escape of escapes)
      test(`leads to no name, variable, file or connection of the host: ${escape}`, () =>
        isEmptyHanded(escape))
  })
}

test('in an ordinary realm the search finds the names, but nothing of the host; its daemon ends with the run', async () => {
  const { value } = await guests.run({
    language: 'javascript',
    runtime: 'bun',
    code: `${loot}\nawait loot(globalThis)`,
    limits: { wallMs: ampleMs },
  })
  const found = (value as string[]).join('\n')
  for (const name of [/^names: process,Bun/m, /^environment: /m, /^daemon: started$/m, /^trap: trapped$/m])
    assert.match(found, name)
  assert.doesNotMatch(found, /^(?:file|bun file|network): /m)
  assert.doesNotMatch(found, new RegExp(secret))
  assert.equal(countConnections(), 0)
  await guests.leaks.check()
})

suite('CE-003: prototypes that a message has polluted', () => {
  const pollution = `
    for (const kind of [Object, Array, Function, String, Number, Promise, Error, Map, Date, RegExp]) kind.prototype.polluted = 'yes'
    Object.prototype.success = false; Object.prototype.error = 'forged'; Object.prototype.killedByTimeout = true
    Object.prototype.then = undefined; Object.prototype.toJSON = undefined; Array.prototype.push = () => { throw new Error('pushed') }
    JSON.stringify = () => '"forged"'; Object.keys = () => { throw new Error('keys') }`

  test('are not those of the host', async () => {
    await execute(`${pollution}; 1`)
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.equal(Reflect.get([], 'polluted'), undefined)
    const { result } = await execute(
      `JSON.parse('{"__proto__":{"polluted":"yes"},"constructor":{"prototype":{"polluted":"yes"}}}')`,
    )
    assert.equal(Reflect.get({}, 'polluted'), undefined)
    assert.equal(Object.getPrototypeOf(result), Object.prototype)
  })

  test('are not those of the next message', async () => {
    await execute(`${pollution}; 1`)
    assert.deepEqual(
      (await execute(`[({}).polluted, [].polluted, JSON.stringify({}), Object.keys({ a: 1 })]`)).result,
      [null, null, '{}', ['a']],
    )
  })

  test('only change the value of their own answer', async () => {
    const answer = await ask({ code: `${pollution}; console.log({ a: 1 }); ({ a: [1, 2] })` })
    assert.equal(answer.success, true)
    assert.equal('error' in answer, false)
    assert.deepEqual(Object.keys(answer.payload ?? {}), ['result', 'logs', 'executionTime', 'language'])
    assert.deepEqual([answer.payload?.result, answer.payload?.logs], [{ a: [1, 2] }, ['{"a":1}']])
  })
})

suite('CE-005: errors', () => {
  const failing = [
    'null.x',
    'throw new Error(new Error("a").stack)',
    'function f() { g() } function g() { null.x }; try { f() } catch (e) { throw new Error(e.stack) }',
    'try { await import("./nothing.js") } catch (e) { throw new Error(e.stack + e.message + e.sourceURL + e.fileName) }',
    'try { eval("}") } catch (e) { throw new Error(e.stack + e.sourceURL) }',
    'try { new Function("}") } catch (e) { throw new Error(e.stack + e.sourceURL) }',
    'try { console.count(Symbol()) } catch (e) { throw new Error(e.stack + e.sourceURL) }',
    'const o = {}; Error.captureStackTrace(o); throw new Error(o.stack)',
    'throw new Error(String(Error.prepareStackTrace) + console.log + eval + Function.prototype.toString.call(console.table))',
    'throw new Error(await new Promise((done) => { ({ get then() { done(new Error("x").stack) } }).then }))',
    'let x = ;',
    'import "./nothing.js"',
    'const deep = (n) => n === 0 ? null.x : 1 + deep(n - 1); try { deep(50) } catch (e) { throw new Error(e.stack) }',
  ]
  for (const code of failing) {
    test(`contain no path and no variable of the host: ${code}`, async () => {
      const answer = JSON.stringify(await ask({ code }))
      assert.match(answer, /"success":false/)
      for (const text of [
        checkoutRoot,
        secret,
        process.cwd(),
        '/opt/lazaret',
        'node_modules',
        'guest-bun',
        '/dist/',
      ])
        assert.ok(!answer.includes(text), `${text} in ${answer}`)
    })
  }

  test('contain the code’s own message and lines', async () => {
    const { error } = await fail('const a = 1\ntry {\n  null.x\n} catch (e) { throw new Error(e.stack) }')
    assert.match(error, /\n {4}at <code>:3:\d+$/)
  })
})
