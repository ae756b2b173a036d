import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { describeEngines, engines, runGuest } from './guest-process.ts'

/** One program with all console calls whose text does not depend on time or place. */
const everything = `
console.log('plain', 1, -0, 2n, true, null, undefined, Symbol('s'))
console.log('%s is %d years and %i, %f, %j %o %O %%', 'Bob', 42.5, 42.9, 1.5, { a: 1 }, [1], { b: { c: {} } }, 'extra')
console.log({ a: 1, b: [1, 2, 3], c: new Map([['k', new Set([1])]]), d: () => 1, e: class A {} })
console.log([undefined, , null], 'x'.repeat(200), new Date(0), /a/g, new Uint8Array(3))
console.log()
console.log('')
console.log('two\\nlines')
console.log('100%')
console.log('%', 1)
console.info('info'); console.debug('debug'); console.warn('warn', { a: 1 }); console.error('error')
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 })
console.dir({ a: 1 })
console.dirxml({ a: 1 }, [2])
console.group('outer'); console.log('in'); console.group(); console.warn('deeper\\nstill'); console.groupEnd()
console.groupCollapsed('collapsed', 1); console.error('c'); console.groupEnd(); console.groupEnd(); console.groupEnd()
console.log('out')
console.count(); console.count(); console.count('x'); console.countReset(); console.count()
console.assert(true, 'never'); console.assert(false); console.assert(false, 'because', { a: 1 }); console.assert(0, { b: 1 })
console.clear(); console.timeStamp(); console.profile(); console.profileEnd()
console.table([{ a: 1, b: 'x' }, { a: 2, c: { d: 1 } }])
console.table([[1, 2], [3, 4]]); console.table([1, 'two', null]); console.table(new Map([['a', 1], ['b', { c: 1 }]]))
console.table(new Set([1])); console.table({ x: { a: 1 }, y: { a: 2 } }); console.table([{ a: 1, b: 2 }], ['b']); console.table(5); console.table('text')
console.table([{ name: '日本', n: 1 }, { name: 'é', n: 22 }]); console.table([])
const { log } = console
log('detached')
`

describeEngines('The console', (run) => {
  test('prints exactly what Node prints', async () => {
    const expected = spawnSync(engines.node, ['-e', everything], { encoding: 'utf8' })
    assert.equal(expected.status, 0, expected.stderr)
    const { stdout, stderr } = await run(everything)
    assert.equal(stdout, expected.stdout)
    assert.equal(stderr, expected.stderr)
  })

  test('turns every call into a log with its level and text', async () => {
    const { logs } = await run(
      "console.log('a', 1); console.info('b'); console.debug('c'); console.warn('d'); console.error('e'); console.group('f'); console.log('g\\nh')",
    )
    assert.deepEqual(logs, [
      { level: 'log', text: 'a 1' },
      { level: 'info', text: 'b' },
      { level: 'debug', text: 'c' },
      { level: 'warn', text: 'd' },
      { level: 'error', text: 'e' },
      { level: 'log', text: 'f' },
      { level: 'log', text: '  g\n  h' },
    ])
  })

  test('traces with the lines of the program', async () => {
    const { logs, stderr } = await run("function f() {\n  console.trace('here', 1)\n}\nf()")
    assert.match(stderr, /^Trace: here 1\n {4}at f \(<code>:2:\d+\)\n {4}at <code>:4:\d+\n$/)
    assert.deepEqual(logs, [{ level: 'error', text: stderr.trimEnd() }])
  })

  test('measures time', async () => {
    const { stdout, stderr } = await run(
      "console.time(); console.timeLog('default', 'x', 1); console.timeEnd(); console.timeEnd('none'); console.time('a'); console.time('a')",
    )
    assert.match(stdout, /^default: [\d.]+ms x 1\ndefault: [\d.]+ms\n$/)
    assert.equal(
      stderr,
      "Warning: No such label 'none' for console.timeEnd()\nWarning: Label 'a' already exists for console.time()\n",
    )
  })

  test('keeps its order with what the program writes itself', async () => {
    const { stdout } = await run(
      "const fs = require('fs')\nfor (let i = 0; i < 50; i++) { console.log('log', i); fs.writeSync(1, `sync ${i}\\n`); process.stdout.write(`stream ${i}\\n`) }",
    )
    assert.equal(stdout, Array.from({ length: 50 }, (_, i) => `log ${i}\nsync ${i}\nstream ${i}\n`).join(''))
  })

  test('writes everything before process.exit ends the program', async () => {
    const { stdout } = await run(
      "for (let i = 0; i < 5000; i++) console.log('x'.repeat(100)); process.exit(0)",
    )
    assert.equal(stdout.length, 5000 * 101)
  })

  test('and so do the streams, whatever ends it', async () => {
    const size = 3_000_000
    const endings = [
      'process.exit(0)',
      "throw new Error('end')",
      'setTimeout(() => process.exit(0))',
      "setTimeout(() => { throw new Error('end') })",
      "void Promise.reject(new Error('end'))",
      "process.kill(process.pid, 'SIGKILL')",
    ]
    for (const name of ['stdout', 'stderr'] as const)
      for (const ending of endings) {
        const writes = `process.${name}.write('x'.repeat(${size - 8})); process.${name}.write(new Uint8Array(8).fill(120))`
        const end = await run(`${writes}; ${ending}`)
        assert.equal(/^x*/.exec(end[name])?.[0].length, size, `${name} before ${ending}`)
      }
  })

  test('sends at most 64 KiB of a text as a log, and writes all of it', async () => {
    const { logs, stdout } = await run("console.log('é'.repeat(100_000))")
    const bytes = Buffer.byteLength(logs[0]?.text ?? '')
    assert.ok(bytes <= 65_536 && bytes > 65_530, `${bytes} bytes`)
    assert.equal(stdout.length, 100_001)
  })

  test('continues if its output is not read', async () => {
    const { value, exitCode } = await run("require('fs').closeSync(1); console.log('lost'); 5")
    assert.deepEqual([value, exitCode], [5, 0])
  })

  test('throws to the program what its own inspection throws', async () => {
    const { value } = await run(
      "try { console.log({ [Symbol.for('nodejs.util.inspect.custom')]() { throw new Error('mine') } }) } catch (e) { e.message }",
    )
    assert.equal(value, 'mine')
  })
})

test('in Node, console output comes after data that the streams still buffer', async () => {
  const { stdout, stderr, logs } = await runGuest('node', {
    code: "process.stdout.cork(); process.stdout.write('x'.repeat(1e6), () => console.log('later')); console.log('END'); console.error('e'); process.stdout.uncork()",
  })
  assert.equal(stdout, `${'x'.repeat(1e6)}END\nlater\n`)
  assert.equal(stderr, 'e\n')
  assert.deepEqual(
    logs.map(({ text }) => text),
    ['END', 'e', 'later'],
  )
})

test('in Node, a program that replaces the `write` of a stream gets the output of the console', async () => {
  const { stdout, stderr, value } = await runGuest('node', {
    code: `const taken = []
const { write } = process.stdout, { write: writeError } = process.stderr
process.stdout.write = (text) => taken.push(text)
process.stderr.write = () => { throw new Error('not the business of the console') }
console.log('a', 1); console.error('b'); console.table([])
process.stdout.write = write; process.stderr.write = writeError
console.log('after'); console.error('after')
taken`,
  })
  assert.deepEqual(value, ['a 1\n', '┌─────────┐\n│ (index) │\n├─────────┤\n└─────────┘\n'])
  assert.deepEqual([stdout, stderr], ['after\n', 'after\n'])
})

test('in Node, streams that the console does not need are not created', async () => {
  const { value } = await runGuest('node', {
    code: `console.log('a')
const made = () => process._getActiveHandles().length
const before = made()
const { enumerable, configurable, set } = Object.getOwnPropertyDescriptor(process, 'stdout')
const same = process.stdout === process.stdout
;[enumerable, configurable, set, same, process.stdout.fd, made() > before]`,
  })
  assert.deepEqual(value, [true, true, undefined, true, 1, true])
})
