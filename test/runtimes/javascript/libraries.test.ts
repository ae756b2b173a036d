/** Popular packages from a folder of the host: imported and required, in JavaScript and in TypeScript. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RunRequest } from '../../../src/index.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

// The last place of module resolution from /workspace.
const { run } = await useLazaret({
  readable: [{ host: join(checkoutRoot, 'node_modules'), guest: '/node_modules' }],
})

type Row = readonly [title: string, code: string, value: unknown, language?: RunRequest['language']]

const programs: readonly Row[] = [
  [
    'lodash: imported as a whole and by file, and required',
    `import _ from 'lodash'
import get from 'lodash/get.js'
const same = require('lodash') === _
const people = [{ name: 'b', age: 2 }, { name: 'a', age: 1 }]
;[same, _.map(_.sortBy(people, 'age'), 'name'), get({ a: [{ b: 1 }] }, 'a[0].b'), _.template('hi <%= n %>')({ n: 'x' }), _.chunk([1, 2, 3], 2), require('lodash/fp').map((n) => n + 1)([1])]`,
    [true, ['a', 'b'], 1, 'hi x', [[1, 2], [3]], [2]],
  ],
  [
    'lodash: a debounced function, by its timers',
    `import _ from 'lodash'
let calls = 0
const call = _.debounce(() => ++calls, 1)
call(); call(); call()
await new Promise((done) => { const wait = setInterval(() => { if (calls > 0) { clearInterval(wait); done() } }, 1) })
calls`,
    1,
  ],
  [
    'date-fns: three hundred ES modules, a locale, and the same as CommonJS',
    `import { addDays, format, formatISO } from 'date-fns'
import { de } from 'date-fns/locale'
const { differenceInCalendarDays, parseISO } = require('date-fns')
;[addDays(new Date(Date.UTC(2024, 1, 28)), 2), format(new Date(Date.UTC(2024, 0, 1, 13, 5)), 'EEEE, d. MMMM yyyy HH:mm', { locale: de }), formatISO(new Date(0)), differenceInCalendarDays(parseISO('2024-03-01'), parseISO('2024-02-01'))]`,
    [new Date('2024-03-01'), 'Montag, 1. Januar 2024 13:05', '1970-01-01T00:00:00Z', 29],
  ],
  [
    'zod: a schema with its type, errors and JSON Schema',
    `import { z } from 'zod'
const Person = z.object({ id: z.number().int(), tags: z.array(z.string()).default([]), born: z.coerce.date() })
type Person = z.infer<typeof Person>
const person: Person = Person.parse({ id: 1, born: '2024-01-01' })
const wrong = Person.safeParse({ id: 1.5, born: 'x' })
;[person, wrong.error?.issues.map(({ path }) => path), z.toJSONSchema(z.object({ a: z.string() })).required, require('zod').z.string().safeParse(5).success]`,
    [{ id: 1, tags: [], born: new Date('2024-01-01') }, [['id'], ['born']], ['a'], false],
    'typescript',
  ],
  [
    'the TypeScript compiler in JavaScript: a program compiled, checked and run',
    `import { ts } from '@ts-morph/common'
const text = 'enum A { X = 41 }\\nexport const answer: number = A.X + 1\\nconst wrong: string = 5'
const { outputText } = ts.transpileModule(text, { compilerOptions: { module: ts.ModuleKind.CommonJS } })
const module = { exports: {} }
new Function('exports', 'module', outputText)(module.exports, module)
const file = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true)
const host = { ...ts.createCompilerHost({}), getSourceFile: (name) => (name === 'a.ts' ? file : undefined) }
const checked = ts.createProgram(['a.ts'], { noLib: true, types: [] }, host).getSemanticDiagnostics(file)
;[module.exports.answer, checked.map(({ code }) => code), require('@ts-morph/common').ts === ts]`,
    [42, [2322], true],
  ],
  [
    'TypeScript 7: its native compiler as a child process',
    `import { writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
writeFileSync('a.ts', 'const a: number = "x"\\nexport const b = a')
const { status, stdout } = spawnSync(process.execPath, ['/node_modules/typescript/bin/tsc', '--noEmit', '--pretty', 'false', 'a.ts'], { encoding: 'utf8' })
;[status, stdout]`,
    [1, "a.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\n"],
  ],
  [
    'fast-check: a property that holds and one that does not',
    `import fc from 'fast-check'
fc.assert(fc.property(fc.integer(), (n) => n + 0 === n))
fc.check(fc.property(fc.nat(), (n) => n < 100)).counterexample`,
    [100],
  ],
]

for (const runtime of ['bun', 'node'] as const) {
  for (const [title, code, value, language = 'javascript'] of programs) {
    test(`${runtime} runs ${title}`, async () => {
      const result = await run({ runtime, language, code })
      assert.deepEqual(result.outcome, { kind: 'completed', exitCode: 0 }, result.stderr)
      assert.deepEqual(result.value, value)
      assert.equal(result.stderr, '')
    })
  }

  test(`${runtime} provides packages to files of the workspace, too, whose own packages come first`, async () => {
    const files = {
      'sub/user.mjs': "export { default as _ } from 'lodash'\nexport { z } from 'zod'",
      'node_modules/zod/package.json': '{ "name": "zod", "main": "main.js" }',
      'node_modules/zod/main.js': "exports.z = 'mine'",
    }
    const code =
      'import { _, z } from "./sub/user.mjs"\n;[_.VERSION.split(".")[0], z, require.resolve("lodash")]'
    const { value, stderr } = await run({ runtime, language: 'javascript', files, code })
    assert.deepEqual(value, ['4', 'mine', '/node_modules/lodash/lodash.js'], stderr)
  })

  test(`${runtime} cannot write to the packages`, async () => {
    const code =
      'try { require("fs").writeFileSync("/node_modules/lodash/x", "") } catch (error) { error.code }'
    const { value } = await run({ runtime, language: 'javascript', code })
    assert.ok(['EROFS', 'EACCES'].includes(String(value)), String(value))
  })
}

test('node takes from CommonJS only the names it can see in the source, where bun takes all', async () => {
  const code = 'import { chunk } from "lodash"\nchunk([1, 2], 1)'
  const inBun = await run({ runtime: 'bun', language: 'javascript', code })
  const inNode = await run({ runtime: 'node', language: 'javascript', code })
  assert.deepEqual(inBun.value, [[1], [2]])
  assert.equal(inNode.outcome.kind, 'failed')
  assert.match(inNode.stderr, /does not provide an export named 'chunk'/)
})
