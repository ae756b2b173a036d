/** Values on the command line: as at the language's own prompt, and without a loss with --json. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { runInThisContext } from 'node:vm'

import { shownTexts } from '../../../../src/adapters/cli/output/print-result.ts'
import { toJsonLine } from '../../../../src/adapters/cli/output/print-json.ts'
import { decodeValue } from '../../../../src/core/values/values.ts'
import { Toolchains } from '../../../../src/runtimes/packages/toolchains.ts'
import { bun, node, python, useLazaret } from '../../../support/use-lazaret.ts'

const guests = await useLazaret()

/** Source text, so that the same code is evaluated in the guest and here. */
const javascriptValues = [
  '1',
  '-0',
  '1e21',
  '0.1 + 0.2',
  'NaN',
  '-Infinity',
  '12345678901234567890n',
  'true',
  'null',
  '"text"',
  `"it's"`,
  String.raw`"'\"\`"`,
  String.raw`"line\nbreak \u001b[31m \ud800 😀"`,
  '"x".repeat(20_000)',
  '[]',
  '[1, [2, [3, [4, [5]]]]]',
  '[, 1, undefined]',
  'Array.from({ length: 150 }, (_, index) => index)',
  '({})',
  `({ a: 1, 'b-c': "x", [Symbol.iterator]: 1 })`,
  '({ nested: { deeper: { deepest: { hidden: 1 } } } })',
  'new Date(0)',
  'new Map([["a", { b: 1 }], [1, 2]])',
  'new Set([1, "two"])',
  '/a+/gi',
  'new Uint8Array([1, 2, 255])',
  'new Float64Array([0.5, -0])',
  'new ArrayBuffer(4)',
  'Symbol("s")',
  '(function named() {})',
  'class Named {}; Named',
  'new (class Point { x = 1 })()',
  'const loop = { name: "loop" }; loop.self = loop; loop',
  'Object.create(null)',
  '[new Error("plain").message, new TypeError("t").name]',
]

const pythonValues = [
  '1',
  '-0.0',
  '1e100',
  '10**30',
  'float("nan")',
  'True',
  '"text"',
  `"it's"`,
  String.raw`"line\nbreak \x1b[31m \ud800 \U0001f600"`,
  'b"\\x00\\xff"',
  'bytearray(b"x")',
  '[]',
  '[1, [2, [3]]]',
  '()',
  '(1,)',
  '{"a": 1, 2: [3]}',
  '{1, 2, 3}',
  'frozenset([1])',
  'set()',
  'range(5)',
  '1+2j',
  '...',
  'NotImplemented',
  'int',
  'slice(1, 2)',
  '__import__("datetime").datetime(2026, 1, 2, 3, 4, 5)',
  '__import__("decimal").Decimal("1.10")',
  '__import__("fractions").Fraction(1, 3)',
  '__import__("collections").OrderedDict(a=1)',
  '__import__("pathlib").PurePosixPath("/a")',
  'list(range(300))',
  '"x" * 5000',
]

for (const runtime of [node, bun]) {
  test(`${runtime.runtime}: a value is printed as node prints it at its prompt`, async () => {
    for (const code of javascriptValues) {
      const result = await guests.run({ ...runtime, code })
      assert.deepEqual(shownTexts(result), [inspect(evaluate(code))], code)
    }
  })

  test(`${runtime.runtime}: a value is complete in --json, or says what is missing`, async () => {
    for (const code of javascriptValues) {
      const result = await guests.run({ ...runtime, code })
      const { value } = JSON.parse(toJsonLine(result)) as { value: unknown }
      assert.deepEqual(value, result.valueTagged, code)
      assert.equal(inspect(decodeValue(value)), inspect(result.value), code)
    }
  })
}

test('python: a value is printed as python prints it at its prompt', async () => {
  const interpreter = new Toolchains().python()?.path ?? assert.fail('no python')
  const show = 'import sys\nfor line in sys.argv[1:]: exec(compile(line, "", "single")); print("\\0", end="")'
  const printed = execFileSync(interpreter, ['-I', '-X', 'utf8', '-c', show, ...pythonValues], {
    encoding: 'utf8',
    env: { PYTHONIOENCODING: 'utf8:backslashreplace' },
  })
  const expected = printed.split('\0').slice(0, -1)
  for (const [index, code] of pythonValues.entries()) {
    const result = await guests.run({ ...python, code })
    assert.deepEqual(
      shownTexts(result).map((text) => `${text}\n`),
      [expected[index]],
      code,
    )
  }
})

test('undefined and None are not printed', async () => {
  for (const request of [
    { ...node, code: 'undefined' },
    { ...bun, code: 'void 0' },
    { ...bun, code: 'let x = 1' },
    { ...python, code: 'None' },
    { ...python, code: 'x = 1' },
  ])
    assert.deepEqual(shownTexts(await guests.run(request)), [], request.code)
})

/** Evaluates a program of one or more statements in this process. */
function evaluate(code: string): unknown {
  return runInThisContext(
    `'use strict'; ${code.startsWith('class') || code.startsWith('const') ? `{ ${code} }` : code}`,
  )
}

test('a value that was displayed is printed once', async () => {
  const code = `
class H:
    def _repr_html_(self): return '<b>h</b>'
    def __repr__(self): return 'an H'
`
  const show = async (program: string) => shownTexts(await guests.run({ ...python, code: code + program }))
  assert.deepEqual(await show('H()'), ['an H'])
  assert.deepEqual(await show('display(H())\nH()'), ['an H', 'an H'])
  assert.deepEqual(await show('display(H())\n1'), ['an H', '1'])
  assert.deepEqual(await show('display(1)\n1'), ['1', '1'])
  assert.deepEqual(await show('import atexit\natexit.register(display, 2)\nH()'), ['an H', '2'])
})
