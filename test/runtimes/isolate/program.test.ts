/** Typical programs, parsed and then run in an isolate. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readProgram, type WrittenProgram } from '../../../src/runtimes/isolate/program/read-program.ts'
import { syntaxErrorPlace } from '../../../src/runtimes/isolate/program/syntax-error-place.ts'
import { type IsolateRun, runIsolate } from './isolate.ts'
import type { Ended } from './messages.ts'

async function run(
  program: Partial<WrittenProgram> & { readonly code: string },
  more: Partial<IsolateRun> = {},
): Promise<Ended> {
  const mode = program.mode ?? 'run'
  const read = await readProgram({ language: 'javascript', mode, ...program })
  if (!('source' in read)) return { state: 'failed', kind: 'syntax', error: read, logs: [] }
  return runIsolate({ source: read.source, mode, ...more })
}

const values: readonly [title: string, code: string, value: unknown][] = [
  ['an expression', '1 + 1', 2],
  ['the last statement', 'const a = 2; if (a > 1) { a * 2 }', 4],
  ['a loop', 'for (let i = 0; i < 3; i++) i', 2],
  ['top-level await', 'const a = await Promise.resolve(5); a + 1', 6],
  ['a promise', 'Promise.resolve([1])', [1]],
  ['a thenable', '({ then(done) { done(7) } })', 7],
  ['var', 'var a = 3; for (var i = 0; i < 2; i++) a += i; a', 4],
  ['a date', 'new Date(0)', { $type: 'Date', value: '1970-01-01T00:00:00.000Z' }],
  ['a map', 'new Map([[1, 2]])', { $type: 'Map', value: [[1, 2]] }],
  ['bytes', 'new Uint8Array([1, 2])', { $type: 'Uint8Array', value: 'AQI=' }],
  ['nothing', 'const a = 1', { $type: 'undefined' }],
  ['a default import', "import _ from 'lodash'\n_.chunk([1, 2, 3], 2)", [[1, 2], [3]]],
  [
    'named imports',
    "import { mean, std as deviation } from 'mathjs'\n[mean([1, 3]), deviation([1, 1])]",
    [2, 0],
  ],
  ['a namespace', "import * as Papa from 'papaparse'\nPapa.parse('a,b').data", [['a', 'b']]],
  ['require', "require('validator').isEmail('a@b.co')", true],
  ['the word import in a text', "'import(1)'", 'import(1)'],
]

for (const [title, code, value] of values)
  test(`the value of a program: ${title}`, async () => {
    const ended = await run({ code })
    assert.deepEqual(ended, { state: 'completed', value, logs: [] })
  })

test('TypeScript: all of it', async () => {
  const code = `
    enum Color { Red = 1, Green }
    namespace Shapes { export const sides = 4 }
    class Point { constructor(readonly x: number, private y: number) {} sum(): number { return this.x + this.y } }
    const first = <T>(list: T[]): T | undefined => list[0];
    [Color.Green, Shapes.sides, new Point(1, 2).sum(), first<string>(['a'])]`
  const ended = await run({ code, language: 'typescript' })
  assert.deepEqual(ended, { state: 'completed', value: [2, 4, 3, 'a'], logs: [] })
})

test('TypeScript: decorators', async () => {
  const code = `
    function twice(_: object, __: string, descriptor: PropertyDescriptor) {
      const inner = descriptor.value; descriptor.value = () => inner() * 2
    }
    class A { @twice get() { return 4 } }
    new A().get()`
  assert.deepEqual(await run({ code, language: 'typescript' }), { state: 'completed', value: 8, logs: [] })
})

const bodies: readonly [title: string, code: string, output: unknown][] = [
  ['with types', 'const a: number = input.a; output = a + 1', 2],
  ['with an early return', 'output = 1 as number; if (output) return; output = 2', 1],
  ['with an import', "import { format } from 'date-fns'\noutput = format(new Date(0), 'yyyy')", '1970'],
  ['with an enum and await', 'enum A { B = 3 }; output = await Promise.resolve(A.B)', 3],
]

for (const [title, code, output] of bodies)
  test(`a body in TypeScript: ${title}`, async () => {
    const ended = await run({ code, language: 'typescript', mode: 'service' }, { input: { a: 1 } })
    assert.deepEqual(ended, { state: 'completed', output, logs: [] })
  })

test('a body in JavaScript may import, too', async () => {
  const code =
    "import _, { sum } from 'lodash'\nimport * as all from 'uuid'\noutput = [_.add(1, 2), sum([1, 2]), all.validate('x')]"
  assert.deepEqual(await run({ code, mode: 'service' }), {
    state: 'completed',
    output: [3, 3, false],
    logs: [],
  })
})

for (const mode of ['run', 'service'] as const)
  for (const code of ["import('fs')", "await import('lodash')", "const f = () => import('x')\nf()"])
    test(`import() is refused in mode ${mode}: ${code}`, async () => {
      const ended = await run({ code, mode })
      assert.equal(ended.state, 'failed')
      assert.equal(ended.kind, 'security')
      assert.equal(ended.error.message, 'Security Error: import() is not allowed in sandboxed code')
    })

test('a static import of a module of Node is refused', async () => {
  const ended = await run({ code: "import fs from 'node:fs'\nfs" })
  assert.equal(ended.state, 'failed')
  assert.equal(ended.kind, 'security')
})

test('a syntax error is reported with its place', async () => {
  const ended = await run({ code: 'const a = 1\nconst b = = 2' })
  assert.deepEqual(ended, {
    state: 'failed',
    kind: 'syntax',
    error: { name: 'SyntaxError', message: "Unexpected token '='", line: 2, column: 11 },
    logs: [],
  })
  assert.deepEqual(syntaxErrorPlace('output = 1\nfoo('), { line: 3, column: 1 })
  assert.deepEqual(syntaxErrorPlace('const output = 1'), { line: 1, column: 7 })
  assert.equal(syntaxErrorPlace('output = await 1; return'), undefined)
})

test('errors name the place in the code as written', async () => {
  const places: readonly [WrittenProgram, line: number, column: number][] = [
    [{ language: 'javascript', mode: 'run', code: '1\nthrow new Error("x")' }, 2, 7],
    [{ language: 'javascript', mode: 'run', code: 'throw new Error("x")' }, 1, 7],
    [{ language: 'javascript', mode: 'run', code: 'await 1; throw new Error("x")' }, 1, 16],
    [
      { language: 'javascript', mode: 'run', code: 'import _ from "lodash"; throw new Error(_.VERSION)' },
      1,
      31,
    ],
    [
      { language: 'typescript', mode: 'run', code: 'type A = 1\n\nconst a: A = 1\nthrow new Error("x")' },
      4,
      7,
    ],
    [{ language: 'javascript', mode: 'service', code: 'throw new Error("x")' }, 1, 7],
    [
      { language: 'javascript', mode: 'service', code: 'import _ from "lodash"; throw new Error(_.VERSION)' },
      1,
      31,
    ],
    [
      { language: 'typescript', mode: 'service', code: 'type A = 1\n\nif (0) return\nthrow new Error("x")' },
      4,
      7,
    ],
  ]
  for (const [program, line, column] of places) {
    const read = await readProgram(program)
    assert.ok('source' in read, program.code)
    const ended = await runIsolate({ source: read.source, mode: program.mode })
    assert.equal(ended.state, 'failed')
    const [, foundLine, foundColumn] = /<code>:(\d+):(\d+)/.exec(ended.error.stack ?? '') ?? []
    const written = read.toWritten({ line: Number(foundLine), column: Number(foundColumn) })
    assert.deepEqual(written, { line, column }, JSON.stringify([program, ended.error.stack]))
  }
})

test('host functions are globals of programs, and take and give values with tags', async () => {
  const functions = {
    add: (a: unknown, b: unknown) => Number(a) + Number(b),
    when: () => ({ $type: 'Date', value: '1970-01-01T00:00:00.000Z' }),
  }
  const ended = await run(
    { code: 'const [a, b] = await Promise.all([add(1, 2), when()]); [a, b.getTime()]' },
    { functions },
  )
  assert.deepEqual(ended, { state: 'completed', value: [3, 0], logs: [] })
})
