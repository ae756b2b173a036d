/** Code that the actor executes: its value, logs, errors and end. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { untilShown } from '../../support/patient-run.ts'
import type { Patient } from '../../support/patient-run.ts'
import { useActor } from './use-actor.ts'
import { startCalmWatch } from '../../support/machine/processor-pressure.ts'

const { ask, execute, fail, guests, actor } = await useActor()

suite('the examples of the documentation', () => {
  test('basic execution', async () => {
    assert.equal((await execute('2 + 2')).result, 4)
    assert.equal((await execute('const x = 1 + 1; x')).result, 2)
  })

  test('console output', async () => {
    const { result, logs } = await execute(`
      console.log('Starting...');
      const result = 42;
      console.log('Result:', result);
      result
    `)
    assert.deepEqual([result, logs], [42, ['Starting...', 'Result: 42']])
  })

  test('TypeScript', async () => {
    const { result, language } = await execute(
      `
      const greet = (name: string): string => {
        return 'Hello, ' + name;
      };
      greet('World')
    `,
      'typescript',
    )
    assert.deepEqual([result, language], ['Hello, World', 'typescript'])
  })

  test('an error', async () => {
    assert.equal((await fail('throw new Error("Something failed")')).error, 'Something failed')
  })

  test('an infinite loop is killed, and answered within 50 ms of its deadline', async () => {
    const attempt = async (timeout: number) => {
      const [watch, start] = [startCalmWatch(), performance.now()]
      const answer = await fail('console.log("before"); while(true) {}', timeout)
      const [ms, tookMs] = [watch(), performance.now() - start]
      return { ...answer, ms, pressedMs: tookMs - ms }
    }
    const lateMs = ({ seen, deadlineMs }: Patient<Awaited<ReturnType<typeof attempt>>>) =>
      seen.payload.executionTime - deadlineMs
    const isPunctual = (each: Patient<Awaited<ReturnType<typeof attempt>>>) =>
      lateMs(each) - each.seen.pressedMs < 50
    const one = await untilShown(attempt, (each) => each.seen.payload.logs.length > 0 && isPunctual(each))
    const { error, payload, ms } = one.seen
    assert.equal(error, `Execution timed out after ${one.deadlineMs}ms (process killed)`)
    assert.deepEqual(payload.logs, ['before'])
    assert.equal(payload.killedByTimeout, true)
    assert.deepEqual(Object.keys(payload), ['logs', 'executionTime', 'killedByTimeout'])
    assert.ok(lateMs(one) >= 0 && isPunctual(one), `${payload.executionTime}`)
    // Includes the start of a process.
    assert.ok(ms < one.deadlineMs + 2000, `${ms}`)
    await guests.leaks.check()
  })
})

/** Code, and its result as JSON; `undefined` if it has none. */
const results: Readonly<Record<string, unknown>> = {
  'if (true) { "if" } else { "else" }': 'if',
  'for (let i = 0; i < 3; i++) i * 2': 4,
  'await Promise.resolve(5)': 5,
  'Promise.resolve({ a: 1 })': { a: 1 },
  '({ then(done) { done("thenable") } })': 'thenable',
  'const a = await (async () => 3)(); a * 2': 6,
  'new Date(0)': '1970-01-01T00:00:00.000Z',
  'new Date(NaN)': null,
  'new Map([["a", 1], [{ b: 2 }, new Map([[1, 2]])]])': [
    ['a', 1],
    [{ b: 2 }, [[1, 2]]],
  ],
  'new Set([1, "a", [2]])': [1, 'a', [2]],
  'new Uint8Array([1, 255])': [1, 255],
  'new Float64Array([1.5, NaN, Infinity])': [1.5, null, null],
  'new BigInt64Array([-5n])': ['-5'],
  'new Uint8Array([1, 2]).buffer': [1, 2],
  'new DataView(new ArrayBuffer(2))': [0, 0],
  '12345678901234567890n': '12345678901234567890',
  '-(10n ** 3000n)': `-1${'0'.repeat(3000)}`,
  '[NaN, Infinity, -Infinity, -0]': [null, null, null, 0],
  '/a+/gi': '/a+/gi',
  'new TypeError("boom")': 'TypeError: boom',
  'class Own extends Error { name = "Own" }; [new Own("x"), new Error("")]': ['Own: x', 'Error'],
  'const a = { b: [1] }; a.self = a; a.b.push(a); a': { b: [1, '[Circular]'], self: '[Circular]' },
  'const shared = { a: 1 }; [shared, shared]': [{ a: 1 }, { a: 1 }],
  'const m = new Map(); m.set("me", m); m': [['me', '[Circular]']],
  '({ f() {}, s: Symbol("s"), u: undefined, c: class {}, kept: null })': { kept: null },
  '[() => 1, Symbol("s"), undefined, , class A {}]': [null, null, null, null, null],
  '() => 1': undefined,
  'Symbol("s")': undefined,
  undefined: undefined,
  '': undefined,
  'const nothing = 1': undefined,
  null: null,
  '({ toJSON: () => ({ a: new Date(0) }) })': { a: '1970-01-01T00:00:00.000Z' },
  'class Money { constructor(n) { this.n = n } toJSON(key) { return `${key}:${this.n}` } }; ({ price: new Money(5) })':
    {
      price: 'price:5',
    },
  '({ toJSON() { return undefined }, a: 1 })': undefined,
  '({ a: { toJSON() { throw new Error("no") } } })': { a: '[toJSON threw: no]' },
  '({ get a() { throw new Error("no") }, b: 1 })': { a: '[getter threw: no]', b: 1 },
  '({ $type: "Date", value: "mine" })': { $type: 'Date', value: 'mine' },
  '({ $type: "Ref", path: [] })': { $type: 'Ref', path: [] },
  'JSON.parse(\'{"__proto__":{"a":1}}\')': JSON.parse('{"__proto__":{"a":1}}'),
  '[new Number(1), new String("a"), new Boolean(false), Object(5n)]': [1, 'a', false, '5'],
  'Object.create({ inherited: 1 })': {},
  '[new WeakMap(), [][Symbol.iterator]()]': ['[object WeakMap]', '[object Array Iterator]'],
  '({ lone: "\\ud800", nul: "\\0" })': { lone: '\ud800', nul: '\0' },
  'new Proxy({ a: 1 }, {})': { a: 1 },
}

suite('the value', () => {
  for (const [code, expected] of Object.entries(results)) {
    if (code === '') continue
    test(`of ${code}`, async () => {
      const { success, payload, error } = await ask({ code })
      assert.equal(success, true, error)
      if (expected === undefined) assert.equal('result' in (payload ?? {}), false)
      else assert.deepEqual(payload?.result, expected)
      // It survives JSON without a loss.
      assert.deepEqual(JSON.parse(JSON.stringify(payload)), payload)
    })
  }

  test('of a thousand levels is cut where it is too deep', async () => {
    const { result } = await execute('let a = 1; for (let i = 0; i < 5000; i++) a = [a]; a')
    assert.match(JSON.stringify(result), /^\[{1000,}"\[nested too deeply\]"\]+$/)
  })

  test('that would grow to terabytes because objects are shared is cut, as fast as a small value', async () => {
    const { result } = await execute('let a = ["x"]; for (let i = 0; i < 60; i++) a = [a, a]; a')
    assert.ok(JSON.stringify(result).includes('"[too large]"'))
  })

  test('that is too large to send is reported as such', async () => {
    assert.match(
      String((await execute('"x".repeat(20 * 1024 * 1024)')).result),
      /^\[larger than \d+ bytes\]$/,
    )
  })
})

suite('logs', () => {
  test('have the prefixes of their console methods', async () => {
    const { logs } = await execute(
      `console.log('a', 1, true, null, undefined); console.error('b'); console.warn('c'); console.info('d'); console.debug('e')`,
    )
    assert.deepEqual(logs, ['a 1 true null undefined', 'ERROR: b', 'WARN: c', 'INFO: d', 'DEBUG: e'])
  })

  test('show objects as JSON, and other values in a readable form', async () => {
    const { logs } = await execute(`
      const cycle = { a: 1 }; cycle.self = cycle
      console.log({ a: [1, 'b', null], c: undefined, d: new Date(0) })
      console.log(cycle)
      console.log(new TypeError('boom'), { error: new Error('inner') })
      console.log(new Map([['a', { b: 1 }]]), new Set([1, 'x']))
      console.log(() => 1, class A {}, Symbol('s'), 5n, -0, /a/g)
      console.log(new Uint8Array([1, 2]), { n: NaN, toJSON() { return 'mine' } })
      console.log()
      console.log({ get a() { throw new Error('no') } })`)
    assert.deepEqual(logs, [
      '{"a":[1,"b",null],"d":"1970-01-01T00:00:00.000Z"}',
      '{"a":1,"self":"[Circular]"}',
      'TypeError: boom {"error":"Error: inner"}',
      'Map {"a" => {"b":1}} Set {1, "x"}',
      '[Function (anonymous)] [Function: A] Symbol(s) 5n -0 /a/g',
      'Uint8Array [1,2] "mine"',
      '',
      '{"a":"[getter threw: no]"}',
    ])
  })

  test('have one entry for each call of each console method', async () => {
    const { logs } = await execute(`
      console.group('outer'); console.log('two\\nlines'); console.groupEnd()
      console.count(); console.count('x'); console.count(); console.countReset('nothing')
      console.assert(true, 'not this'); console.assert(false, 'this'); console.dir({ a: 1 }); console.table([{ a: 1 }]); console.trace('here')
      console.clear(); console.time('t'); console.timeEnd('u')`)
    assert.deepEqual(logs.slice(0, 9), [
      'outer',
      '  two\n  lines',
      'default: 1',
      'x: 1',
      'default: 2',
      "WARN: Warning: Count for 'nothing' does not exist",
      'WARN: Assertion failed: this',
      '{"a":1}',
      '[{"a":1}]',
    ])
    assert.match(logs[9] ?? '', /^ERROR: Trace: here\n {4}at <code>:4:/)
    assert.equal(logs.length, 11)
  })

  test('printed before the end are kept, however the program ends', async () => {
    const logging = 'console.log("said"); '
    assert.deepEqual((await fail(`${logging} throw 1`)).payload.logs, ['said'])
    assert.deepEqual((await fail(`${logging} await new Promise(() => {})`)).payload.logs, ['said'])
    assert.deepEqual((await fail(`${logging} while (true) {}`, 500)).payload.logs, ['said'])
    const { error, payload } = await fail(
      `${logging} const all = []; while (true) all.push(new Array(1e6).fill(all.length))`,
    )
    assert.match(error, /memory/)
    assert.deepEqual(payload.logs, ['said'])
    assert.equal('killedByTimeout' in payload, false)
  })

  test('are bounded; a flood of logs ends the run, and the first logs are kept', async () => {
    const { error, payload } = await fail('for (;;) console.log("x".repeat(60000))')
    assert.match(error, /limit on output/)
    assert.equal(payload.logs[0], 'x'.repeat(60_000))
  })
})

/** Code, and its error. */
const errors: Readonly<Record<string, string | RegExp>> = {
  'throw new TypeError("as written")': 'as written',
  'throw null': 'null',
  'throw undefined': 'undefined',
  'throw 42': '42',
  'throw "text"': 'text',
  'throw { message: "of an object" }': 'of an object',
  'throw { code: 5 }': '{"code":5}',
  'throw new Error("")': 'Error',
  'throw Object.assign(new Error("x"), { message: 5 })': 'Error',
  'throw () => 1': '[Function (anonymous)]',
  'null.x': /null/,
  nothing: /nothing/,
  'await Promise.reject(new Error("rejected"))': 'rejected',
  'Promise.reject(new Error("late")); "value"': 'late',
  'Promise.resolve().then(() => { throw new Error("later") }); "value"': 'later',
  '({ then() { throw new Error("in then") } })': 'in then',
  'await new Promise(() => {})': 'The program awaits a promise that can no longer settle.',
  'new Promise(() => {})': 'The program awaits a promise that can no longer settle.',
  '({ then() {} })': 'The program awaits a promise that can no longer settle.',
  'const f = () => 1 + f(); f()': /call stack/i,
  'let x = ;': /^SyntaxError: .+ \(line 1, column \d+\)$/,
  '\n\n  }': /^SyntaxError: .+ \(line 3, column 3\)$/,
  'import fs from "node:fs"; fs': 'Cannot import "node:fs": there are no modules here.',
  'await import("node:fs")': 'Cannot import "node:fs": there are no modules here.',
  'require("fs")': /require/,
  'process.exit(0)': /process/,
}

suite('an error', () => {
  for (const [code, expected] of Object.entries(errors)) {
    test(`of ${JSON.stringify(code)}`, async () => {
      const { error, payload } = await fail(code)
      if (typeof expected === 'string') assert.equal(error, expected)
      else assert.match(error, expected)
      assert.deepEqual(payload.logs, [])
      assert.equal('result' in payload, false)
    })
  }

  test('for a program that can no longer settle comes at once', async () => {
    const { payload } = await fail('await new Promise(() => {})', 300_000)
    assert.equal('killedByTimeout' in payload, false)
  })
})

test('a hundred messages at once are all answered, each with its own value', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) =>
      actor.receive({
        id: `${index}`,
        type: 'execute',
        payload: { code: `console.log(${index}); ${index} * 2` },
      }),
    ),
  )
  for (const [index, { id, payload }] of answers.entries())
    assert.deepEqual([id, payload?.result, payload?.logs], [`${index}_response`, index * 2, [`${index}`]])
})

test('nothing carries over to the next message', async () => {
  const look = `({ global: typeof globalThis.left, proto: ({}).left, array: [].left, console: typeof console.left, error: Error.left, then: Promise.prototype.then.left })`
  const untouched = { global: 'undefined', console: 'undefined' }
  assert.deepEqual((await execute(look)).result, untouched)
  await execute(
    `globalThis.left = 1; Object.prototype.left = 2; Array.prototype.left = 3; console.left = 4; Error.left = 5; Promise.prototype.then.left = 6; JSON.parse = () => 7; 1`,
  )
  assert.deepEqual((await execute(look)).result, untouched)
})

test('a program that defines toJSON on prototypes affects its own value, but not the envelope', async () => {
  const answer = await ask({
    code: `Object.prototype.toJSON = function () { return { success: false, again: {} } }; Array.prototype.toJSON = () => 'list'; console.log({ a: 1 }); ({ a: [1] })`,
  })
  assert.deepEqual(Object.keys(answer), [
    'id',
    'correlationId',
    'from',
    'to',
    'timestamp',
    'success',
    'payload',
  ])
  assert.equal(answer.success, true)
  assert.equal(answer.payload?.language, 'javascript')
  assert.deepEqual(Object.keys(Object(answer.payload?.result)), ['success', 'again'])
})

test('what looks like the protocol on the console is only a log', async () => {
  const forged = '{"type":"value","truncated":false,"text":"7","value":7}'
  const { result, logs } = await execute(
    `console.log(${JSON.stringify(forged)}); console.log('ERROR: not one\\nWARN: nor this'); console.log(JSON.stringify({ success: false, result: 9 })); 5`,
  )
  assert.equal(result, 5)
  assert.deepEqual(logs, [forged, 'ERROR: not one\nWARN: nor this', '{"success":false,"result":9}'])
})

test('decorators, enums and namespaces of TypeScript work', async () => {
  const { result } = await execute(
    `enum Color { Red = 3 } namespace N { export const a = 1 }
    function mark(kind: Function) { (kind as any).marked = true }
    @mark class Own { constructor(private readonly n: number) {} get value(): number { return this.n } }
    ({ red: Color.Red, a: N.a, marked: (Own as any).marked, n: new Own(4).value, left: typeof (globalThis as any).babelHelpers })`,
    'typescript',
  )
  assert.deepEqual(result, { red: 3, a: 1, marked: true, n: 4, left: 'object' })
})

test('dropped logs are reported', async () => {
  const { payload } = await ask({ code: 'for (let n = 0; n < 70_000; n++) console.log(n)' })
  assert.equal(payload?.logs.length, 65_537)
  assert.equal(payload?.logs.at(-1), '[further log entries were dropped]')
})

test('console timers log the measured time', async () => {
  const { payload } = await ask({
    code: 'console.time("a%s"); console.timeLog("a%s", "%s", 1); console.timeEnd("a%s")',
  })
  assert.match(payload?.logs[0] ?? '', /^a%s: [\d.]+ms %s 1$/)
  assert.match(payload?.logs[1] ?? '', /^a%s: [\d.]+ms$/)
})
