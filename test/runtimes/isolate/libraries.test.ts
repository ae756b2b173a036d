/** The libraries that programs may require: complete, in the pinned versions, with their licences. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { runIsolate } from './isolate.ts'
import { libraries, librarySource } from './messages.ts'

const packages = createRequire(import.meta.url)

/** Exports that exist only in Node: a module's `default`, and a class for Node's streams. */
const notHere = new Set(['default', 'DuplexStreamStreamer'])

for (const name of libraries) {
  const text = librarySource(name) ?? ''

  test(`${name} has every name that the package has`, async () => {
    const ours = await runIsolate({ source: `output = Object.keys(require('${name}'))` })
    assert.ok('output' in ours, JSON.stringify(ours))
    const names = new Set(ours.output as string[])
    const theirs = Object.keys(packages(name) as object).filter((key) => !notHere.has(key))
    assert.deepEqual(
      theirs.filter((key) => !names.has(key)),
      [],
    )
    assert.ok(names.size >= 14)
  })

  test(`${name} states its version and its licence`, () => {
    const { version } = packages(`${name}/package.json`) as { version: string }
    assert.ok(text.startsWith(`/*!\n`) && text.includes(`${name} ${version}\n`))
    assert.match(text.slice(0, 20_000), /Permission is hereby granted|Apache License/)
  })

  test(`${name} works after it was loaded ahead`, async () => {
    const ended = await runIsolate({ source: `output = typeof require('${name}')`, load: [name] })
    assert.ok('output' in ended && /object|function/.test(String(ended.output)))
  })
}

const uses: readonly [code: string, output: unknown][] = [
  ["require('uuid').v4().length", 36],
  ["require('uuid').version(require('uuid').v7())", 7],
  ["require('uuid').v4() === require('uuid').v4()", false],
  ["require('validator').isURL('https://example.com/a?b=c')", true],
  ["require('validator').isURL('nothing')", false],
  ["require('validator').isEmail('a@example.com')", true],
  ["require('jstat').jStat.mean([1, 2, 3])", 2],
  ["require('jstat').jStat.normal.cdf(0, 0, 1)", 0.5],
  ["require('papaparse').unparse([{ a: 1, b: 'c,d' }])", 'a,b\r\n1,"c,d"'],
  ["require('mathjs').evaluate('sqrt(16) + det([1, 2; 3, 4])')", 2],
  ["require('mathjs').format(require('mathjs').unit('5 cm').to('mm'))", '50 mm'],
  ["require('mathjs').create(require('mathjs').all).add(1, 2)", 3],
  ["require('mathjs').matrix([[1]])", { mathjs: 'DenseMatrix', data: [[1]], size: [1, 1] }],
  ["require('date-fns').formatDistance(new Date(0), new Date(86400000))", '1 day'],
  ["require('lodash').merge({ a: [1] }, { a: [2, 3] })", { a: [2, 3] }],
  ["require('lodash') === require('lodash')", true],
]

for (const [code, output] of uses)
  test(`using a library: ${code}`, async () => {
    const ended = await runIsolate({ source: `output = ${code}` })
    assert.deepEqual(ended, { state: 'completed', output, logs: [] })
  })

test('a library with a computed name loads, too', async () => {
  const ended = await runIsolate({
    source: "output = ['lodash', 'mathjs', 'validator'].map((name) => typeof require('' + name))",
  })
  assert.deepEqual('output' in ended && ended.output, ['function', 'object', 'object'])
})

test('libraries of the service: a given text, one that needs another, and a broken one', async () => {
  const own = {
    greet: 'module.exports = (name) => "hello " + name',
    twice: 'const greet = require("greet"); exports.twice = (name) => greet(name) + greet(name)',
    maker: 'exports.make = new Function("return 7"); exports.later = () => new Function("return 8")',
    broken: 'throw new Error("it is broken")',
    wrong: 'exports.a = (',
  }
  const tell = (code: string) => runIsolate({ source: code, libraries: own })
  assert.deepEqual(await tell("output = require('greet')('a') + require('twice').twice('b')"), {
    state: 'completed',
    output: 'hello ahello bhello b',
    logs: [],
  })
  assert.deepEqual(await tell("output = require('maker').make()"), {
    state: 'completed',
    output: 7,
    logs: [],
  })
  const later = await tell("require('maker').later()")
  assert.ok(later.state === 'failed' && later.kind === 'security')
  for (const [name, message] of [
    ['broken', 'it is broken'],
    ['wrong', "Unexpected token '}'"],
  ] as const) {
    const ended = await tell(`require('${name}')`)
    assert.ok(ended.state === 'failed' && ended.kind === 'runtime', JSON.stringify(ended))
    assert.ok(ended.error.message.includes(message), ended.error.message)
  }
})
