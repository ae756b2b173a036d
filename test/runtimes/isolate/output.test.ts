/** The result of `output`, the texts of logs, and the ends of runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'

const outputs: readonly [expression: string, json: unknown][] = [
  ['1', 1],
  ['null', null],
  ['"text"', 'text'],
  ['true', true],
  ['-0', 0],
  ['NaN', null],
  ['[Infinity, -Infinity]', [null, null]],
  ['10n ** 20n', '100000000000000000000'],
  ['new Date(0)', '1970-01-01T00:00:00.000Z'],
  ['new Date(NaN)', null],
  ['{ a: undefined, b: 1 }', { b: 1 }],
  ['[undefined, , 1]', [null, null, 1]],
  [
    'new Map([["a", 1], [{ b: 2 }, new Map()]])',
    [
      ['a', 1],
      [{ b: 2 }, []],
    ],
  ],
  ['new Set([1, [2]])', [1, [2]]],
  ['/a"b/gi', '/a"b/gi'],
  ['new TypeError("no")', 'TypeError: no'],
  ['[new Error()]', ['Error']],
  ['new Uint8Array([1, 255])', [1, 255]],
  ['new Float64Array([0.5, NaN])', [0.5, null]],
  ['new BigInt64Array([-1n])', ['-1']],
  ['new Uint8Array([1, 2]).buffer', [1, 2]],
  ['new DataView(new ArrayBuffer(2))', [0, 0]],
  ['[Object(1), Object("a"), Object(false)]', [1, 'a', false]],
  ['new Proxy({ a: [1] }, {})', { a: [1] }],
  ['new Proxy([1, 2], {})', [1, 2]],
  ['new (class A { x = 1; #y = 2; get z() { return 3 } })()', { x: 1 }],
  ['Object.create({ inherited: 1 }, { own: { value: 2, enumerable: true } })', { own: 2 }],
  ['Object.create(null)', {}],
  ['{ toJSON() { return { b: 2 } } }', { b: 2 }],
  ['{ a: { toJSON: (key) => key } }', { a: 'a' }],
  ['{ toJSON: 1 }', { toJSON: 1 }],
  ['{ [Symbol()]: 1, a: 2 }', { a: 2 }],
  ['JSON.parse(\'{"__proto__": 1}\')', JSON.parse('{"__proto__": 1}')],
  ['{ "a b": { "\\u2028\\ud800": 1 } }', JSON.parse('{"a b":{"\\u2028\\ud800":1}}')],
  ['new WeakMap()', {}],
  ['(() => { const a = {}; return [a, a] })()', [{}, {}]],
  ['(function () { return arguments })(1, 2)', { 0: 1, 1: 2 }],
]

for (const [expression, json] of outputs)
  test(`output: ${expression}`, async () => {
    const ended = await runIsolate({ source: `output = ${expression}` })
    assert.deepEqual(ended, { state: 'completed', output: json, logs: [] })
  })

const refused: readonly [expression: string, message: string][] = [
  ['{ a: { b() {} } }', 'output.a.b is a function'],
  ['() => 1', 'output is a function'],
  ['class A {}', 'output is a function'],
  ['[1, Symbol("a")]', 'output[1] is a symbol'],
  ['{ "a b": [{ c: () => 1 }] }', 'output["a b"][0].c is a function'],
  ['new Map([["a", () => 1]])', 'output[0][1] is a function'],
  ['new Set([Symbol()])', 'output[0] is a symbol'],
  ['(() => { const a = { b: {} }; a.b.c = a; return a })()', 'output.b.c refers back to output'],
  ['(() => { const a = []; a.push({ a }); return { a } })()', 'output.a[0].a refers back to output.a'],
  ['{ get a() { throw new Error("no") } }', 'output.a cannot be read: no'],
  ['new Proxy({}, { ownKeys() { throw new Error("no keys") } })', 'output cannot be read: no keys'],
  ['{ a: { toJSON() { throw new Error("no") } } }', 'output.a cannot be read: [toJSON threw: no]'],
  [
    '(() => { let a = []; for (let i = 0; i < 5000; i++) a = [a]; return a })()',
    'output is nested more than 1000 levels deep',
  ],
  ['"a".repeat(6000)', 'output is larger than 5000 bytes'],
  [
    '(() => { let a = ["long text"]; for (let i = 0; i < 40; i++) a = [a, a]; return a })()',
    'output is larger than 5000 bytes',
  ],
  [
    'new Proxy([], { get: (list, key) => key === "length" ? 2 ** 40 : 0 })',
    'output is larger than 5000 bytes',
  ],
]

for (const [expression, message] of refused)
  test(`no output: ${expression.slice(0, 90)}`, async () => {
    const ended = await runIsolate({ source: `output = ${expression}`, maxBytes: 5000 })
    assert.deepEqual(ended, {
      state: 'failed',
      kind: 'runtime',
      error: { name: 'TypeError', message },
      logs: [],
    })
  })

const logged: readonly [call: string, line: string | RegExp][] = [
  ['console.log("a", 1, true)', '[LOG] a 1 true'],
  ['console.error("a")', '[ERROR] a'],
  ['console.warn("a")', '[WARN] a'],
  ['console.info("a")', '[INFO] a'],
  ['console.debug("a")', '[DEBUG] a'],
  ['console.log()', '[LOG] '],
  ['console.log(undefined, null, NaN, -0, 1n)', '[LOG] undefined null NaN -0 1n'],
  ['console.log({ a: [1, { b: "c" }] })', '[LOG] {"a":[1,{"b":"c"}]}'],
  ['console.log(new Error("no"))', '[LOG] Error: no'],
  ['console.log({ e: new TypeError("no") })', '[LOG] {"e":"TypeError: no"}'],
  ['console.log(new Date(0))', '[LOG] "1970-01-01T00:00:00.000Z"'],
  [
    'console.log(Symbol("a"), function b() {}, () => 1, class C {})',
    '[LOG] Symbol(a) [Function: b] [Function (anonymous)] [Function: C]',
  ],
  ['const a = { b: 1 }; a.a = a; console.log(a)', '[LOG] {"b":1,"a":"[Circular]"}'],
  ['console.log(new Map([[1, 2]]), new Set([3]), /x/g)', '[LOG] Map {1 => 2} Set {3} /x/g'],
  ['console.log(new Uint8Array(2))', '[LOG] Uint8Array [0,0]'],
  ['console.log(new Proxy({}, { get() { throw 1 }, ownKeys() { throw 2 } }))', /^\[LOG\] /],
  ['const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); console.log(proxy, [proxy])', /^\[LOG\] /],
  ['console.log({ get a() { throw new Error("no") } })', '[LOG] {"a":"[getter threw: no]"}'],
  ['console.log({ toString() { throw 1 }, [Symbol.toPrimitive]() { throw 2 } })', /^\[LOG\] /],
  ['console.log(Object.create(null))', '[LOG] {}'],
  ['console.log("a".repeat(1e6))', /^\[LOG\] a{262144}…$/],
  ['let a = []; for (let i = 0; i < 1e4; i++) a = [a]; console.log(a)', /nested too deeply/],
  ['console.log(Array(1e6).fill(1))', /^\[LOG\] \[1,1.{60000,70000}…$/],
  ['console.table([1]); console.dir({ a: 1 })', '[LOG] [1]'],
  ['console.assert(false, "a")', '[WARN] Assertion failed: a'],
  ['console.count(); ', '[LOG] default: 1'],
  ['console.trace("a")', /^\[ERROR\] Trace: a\n {4}at /],
  ['console.log = () => {}; console.log("still")', '[LOG] still'],
]

for (const [call, line] of logged)
  test(`log: ${call.slice(0, 90)}`, async () => {
    const ended = await runIsolate({ source: call })
    assert.equal(ended.state, 'completed', JSON.stringify(ended).slice(0, 500))
    if (typeof line === 'string') assert.equal(ended.logs[0], line)
    else assert.match(ended.logs[0] ?? '', line)
  })

const ends: readonly [title: string, source: string, end: object][] = [
  ['absent input is undefined', 'output = input === undefined', { state: 'completed', output: true }],
  [
    'an assignment after an await counts',
    'output = 1; await null; output = 2',
    { state: 'completed', output: 2 },
  ],
  [
    'an early return keeps what was assigned',
    'output = 1; if (output) return; output = 2',
    { state: 'completed', output: 1 },
  ],
  [
    'a job that nobody awaits is too late',
    'Promise.resolve().then(() => {}).then(() => {}).then(() => { output = 2 }); output = 1',
    { state: 'completed', output: 1 },
  ],
  ['no output', '1 + 1', { state: 'completed' }],
  ['a promise that nothing can settle', 'await new Promise(() => {})', { state: 'pending' }],
]

for (const [title, source, end] of ends)
  test(`the end of a run: ${title}`, async () => {
    assert.deepEqual(await runIsolate({ source }), { ...end, logs: [] })
  })

const failures: readonly [source: string, kind: string, name: string, message: string][] = [
  ['throw new Error("Unexpected memory limit")', 'runtime', 'Error', 'Unexpected memory limit'],
  [
    'JSON.parse("{")',
    'runtime',
    'SyntaxError',
    "Expected property name or '}' in JSON at position 1 (line 1 column 2)",
  ],
  ['throw new SyntaxError("mine")', 'runtime', 'SyntaxError', 'mine'],
  ['throw "text"', 'runtime', 'Uncaught', 'text'],
  ['throw null', 'runtime', 'Uncaught', 'null'],
  ['throw { message: "like one" }', 'runtime', 'Uncaught', 'like one'],
  ['throw new Proxy(new Error("a"), { get() { throw 1 } })', 'runtime', 'Error', ''],
  ['await Promise.reject(new RangeError("a"))', 'runtime', 'RangeError', 'a'],
  ['Promise.reject(new RangeError("a"))', 'runtime', 'RangeError', 'a'],
  [
    '(async () => { await null; throw new TypeError("later") })(); output = 1',
    'runtime',
    'TypeError',
    'later',
  ],
  ['queueMicrotask(() => { throw new TypeError("job") })', 'runtime', 'TypeError', 'job'],
  ['const a = 1; const a = 2', 'syntax', 'SyntaxError', "Identifier 'a' has already been declared"],
  ['foo(', 'syntax', 'SyntaxError', "Unexpected token '}'"],
  [
    '(async () => require("fs"))()',
    'security',
    'SecurityError',
    "Security Error: Module 'fs' is not allowed in sandboxed code",
  ],
  [
    'require("left-pad")',
    'runtime',
    'Error',
    "Module 'left-pad' is not available. Allowed modules: lodash, date-fns, mathjs, papaparse, jstat, uuid, validator",
  ],
  [`${'['.repeat(50_000)}${']'.repeat(50_000)}`, 'syntax', 'SyntaxError', 'The code is nested too deeply.'],
]

for (const [source, kind, name, message] of failures)
  test(`the end of a run: ${source.slice(0, 90)}`, async () => {
    const ended = await runIsolate({ source })
    assert.equal(ended.state, 'failed', JSON.stringify(ended))
    assert.deepEqual([ended.kind, ended.error.name, ended.error.message], [kind, name, message])
  })

test('host functions: results, errors, limits and what cannot be sent', async () => {
  const source = `
    const tell = async (call) => { try { return await call() } catch (error) { return error.name + ': ' + error.message } }
    output = [
      await tell(() => bridge.echo({ a: [1, new Date(0), NaN] })),
      await tell(() => bridge.echo()),
      await tell(() => bridge.fail()),
      await tell(() => bridge.echo({ f() {} })),
      await tell(() => bridge.nothing()),
      await tell(() => bridge.echo(1)),
      await tell(() => bridge.echo(2)),
      Object.isFrozen(bridge),
    ]`
  const functions = {
    echo: (value: unknown) => value,
    fail: () => {
      throw new RangeError('from outside')
    },
  }
  const ended = await runIsolate({ source, functions, maxCalls: 4 })
  assert.deepEqual('output' in ended && ended.output, [
    { a: [1, '1970-01-01T00:00:00.000Z', null] },
    null,
    'RangeError: from outside',
    "TypeError: 'echo' cannot be called: the argument.f is a function",
    'TypeError: bridge.nothing is not a function',
    1,
    'FunctionLimitError: A run may call host functions 4 times.',
    true,
  ])
})
