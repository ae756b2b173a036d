import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeEngines } from './guest-process.ts'

describeEngines('A program that fails', (run) => {
  test('ends with exit code 1, and its error names its own line', async () => {
    const { error, exitCode, stderr, value } = await run("const a = 1\n\n  throw new RangeError('too much')")
    assert.deepEqual(error, {
      phase: 'run',
      name: 'RangeError',
      message: 'too much',
      stack: 'RangeError: too much\n    at <code>:3:9',
      line: 3,
      column: 9,
    })
    assert.equal(exitCode, 1)
    assert.equal(value, undefined)
    assert.equal(
      stderr,
      "<code>:3\n  throw new RangeError('too much')\n        ^\n\nRangeError: too much\n    at <code>:3:9\n",
    )
  })

  test('shows columns of its first line as written', async () => {
    assert.equal((await run("throw new Error('x')")).error?.column, 7)
    assert.equal((await run("await 0; throw new Error('x')")).error?.column, 16)
    assert.equal((await run("1; 2; if (true) { 3; throw new Error('x') } await 0")).error?.column, 28)
  })

  test('shows nothing of the harness in any stack', async () => {
    const { error, stdout } = await run(
      "console.log(new Error('a').stack)\nasync function f() { await 0; throw new Error('b') }\nawait f()",
    )
    assert.doesNotMatch(`${stdout}${error?.stack}`, /dist|node:internal|runInThisContext/)
  })

  test('prints causes, aggregated errors and fields', async () => {
    const code =
      "throw Object.assign(new Error('outer', { cause: new AggregateError([new TypeError('one')], 'all') }), { code: 'E1' })"
    const { stderr } = await run(code)
    for (const part of ['Error: outer', "code: 'E1'", '[cause]: AggregateError: all', 'TypeError: one'])
      assert.ok(stderr.includes(part), stderr)
  })

  test('by a syntax error reports the place, before anything has run', async () => {
    const { error, exitCode, stdout, stderr } = await run('console.log("ran")\nlet a = (1 + ;')
    assert.deepEqual(
      [error?.phase, error?.name, error?.line, error?.column],
      ['syntax', 'SyntaxError', 2, 14],
    )
    assert.equal(exitCode, 1)
    assert.equal(stdout, '')
    assert.match(stderr, /^<code>:2\nlet a = \(1 \+ ;\n {13}\^\n\nSyntaxError: Unexpected token/)
  })

  test('by a syntax error below an await reports the place', async () => {
    const { error } = await run('await 1\nlet a = (1 + ;')
    assert.deepEqual([error?.phase, error?.line, error?.column], ['syntax', 2, 14])
  })

  test('by code nested 200,000 levels deep is a syntax error', async () => {
    for (const start of ['', 'await 0;']) {
      const { error, exitCode } = await run(start + '('.repeat(200_000) + '1' + ')'.repeat(200_000))
      assert.deepEqual(
        [error?.phase, error?.message, exitCode],
        ['syntax', 'The code is nested too deeply.', 1],
      )
    }
  })

  test('by a rejected promise that nobody handles', async () => {
    for (const code of [
      "Promise.reject(new Error('no'))",
      "Promise.reject(new Error('no')); 1",
      "await Promise.reject(new Error('no'))",
    ]) {
      const { error, exitCode } = await run(code)
      assert.deepEqual([error?.phase, error?.message, exitCode], ['run', 'no', 1])
    }
  })

  test('in a timer keeps the value that it had given before', async () => {
    const { value, error, exitCode } = await run("setTimeout(() => { throw new Error('late') }, 1); 5")
    assert.deepEqual([value, error?.message, exitCode], [5, 'late', 1])
  })

  test('may throw anything', async () => {
    const thrown: readonly (readonly [string, string])[] = [
      ['"text"', 'text'],
      ['null', 'null'],
      ['undefined', 'undefined'],
      ['{ a: 1 }', '{ a: 1 }'],
      ['Symbol("s")', 'Symbol(s)'],
      ['new Proxy({}, { get() { throw 1 }, getPrototypeOf() { throw 2 } })', '{}'],
    ]
    for (const [expression, message] of thrown) {
      const { error, exitCode } = await run(`throw ${expression}`)
      assert.deepEqual([error?.phase, error?.message, exitCode], ['run', message, 1], expression)
    }
  })

  test('may throw errors whose every property throws', async () => {
    const code = `const e = new Error('m')
for (const key of ['name', 'message', 'stack', 'cause', 'constructor']) Object.defineProperty(e, key, { get() { throw new Error(key) } })
throw e`
    const { error, exitCode } = await run(code)
    assert.deepEqual([error?.phase, error?.name, exitCode], ['run', 'Error', 1])
  })

  test('has stacks that begin as usual, whatever the text of the errors', async () => {
    const code = `const firstLine = (error) => error.stack.split('\\n')[0]
const shown = (name, message) => firstLine(new (class extends Error {
  get name() { return name() }
  get message() { return message() }
  toString() { return 'mine' }
})())
const broken = () => { throw 1 }
const captured = { name: 'A', message: 'b', toString: broken }
Error.captureStackTrace(captured)
class Foo extends Error {}
console.log(JSON.stringify([
  shown(() => 'Z', () => 'm'), shown(() => 'Z', () => ''), shown(() => '', () => 'm'),
  shown(() => 5, () => 6), shown(() => undefined, () => undefined),
  shown(broken, () => 'm'), shown(() => Symbol('s'), () => 'm'),
  firstLine(captured), firstLine(new Foo('m')),
]))`
    const { stdout, stderr } = await run(code)
    const expected = ['Z: m', 'Z', 'm', '5: 6', 'Error', 'Error', 'Error', 'A: b', 'Error: m']
    assert.equal(stdout, `${JSON.stringify(expected)}\n`, stderr)
  })

  test('may throw an error with a message of many megabytes', async () => {
    const { error, exitCode } = await run("throw new Error('é'.repeat(20_000_000))")
    assert.equal(exitCode, 1)
    assert.ok(Buffer.byteLength(error?.message ?? '') <= 65_536)
  })

  test('by running out of stack reports that', async () => {
    const { error, exitCode } = await run('function f() { f() }\nf()')
    assert.equal(error?.name, 'RangeError')
    assert.equal(exitCode, 1)
  })

  test('may listen for its own uncaught errors, and continues', async () => {
    const code =
      "process.on('uncaughtException', (error) => console.log('caught', error.message))\nsetTimeout(() => console.log('alive'), 1)\nthrow new Error('x')"
    const { stdout, error, exitCode } = await run(code)
    assert.deepEqual([stdout, error, exitCode], ['caught x\nalive\n', undefined, 0])
  })

  test('may listen for its own unhandled rejections', async () => {
    const { stdout, error, exitCode } = await run(
      "process.on('unhandledRejection', (reason) => console.log('caught', reason))\nPromise.reject(1)\n0",
    )
    assert.deepEqual([stdout, error?.message, exitCode], ['caught 1\n', undefined, 0])
  })
})

describeEngines('A program that ends', (run) => {
  test('by process.exit has that exit code, and no value', async () => {
    const { exitCode, value } = await run('console.log("a"); process.exit(3); 5')
    assert.deepEqual([exitCode, value], [3, undefined])
  })

  test('by process.exitCode has that exit code and its value', async () => {
    const { exitCode, value } = await run('process.exitCode = 4; 5')
    assert.deepEqual([exitCode, value], [4, 5])
  })

  test('exits after its last timer has fired', async () => {
    const { exitCode, stdout } = await run(
      'let n = 0; const t = setInterval(() => { console.log(++n); if (n === 3) clearInterval(t) }, 1); 0',
    )
    assert.deepEqual([exitCode, stdout], [0, '1\n2\n3\n'])
  })

  test('while it awaits a promise for ever gets exit code 13 and a message', async () => {
    const { exitCode, stderr, value } = await run('await new Promise(() => {}); 5')
    assert.equal(exitCode, 13)
    assert.match(stderr, /awaited something at its top level/)
    assert.equal(value, undefined)
  })

  test('runs its exit listeners', async () => {
    const { stdout, exitCode } = await run(
      "process.on('exit', (code) => console.log('bye', code))\nthrow new Error('x')",
    )
    assert.deepEqual([stdout, exitCode], ['bye 1\n', 1])
  })
})
