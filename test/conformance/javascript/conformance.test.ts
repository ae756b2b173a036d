/**
 * The same programs in both engines, with the same expectations. A row that names a difference of an engine must differ:
 * the day the engine behaves as the others do, its difference has to go.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createLazaret } from '../../../src/index.ts'
import type { RunResult } from '../../../src/index.ts'
import { LeakCheck } from '../../support/leaks.ts'
import { builtins } from './builtins.ts'
import { assertResult } from './compare.ts'
import { consoles } from './console.ts'
import { errors } from './errors.ts'
import { functions } from './functions.ts'
import { interfaces } from './interfaces.ts'
import { modules } from './modules.ts'
import { processes } from './processes.ts'
import type { ConformanceProgram, EngineName } from './program.ts'
import { statements } from './statements.ts'
import { syntaxErrors } from './syntax-errors.ts'
import { typescriptFiles } from './typescript-files.ts'
import { typescript } from './typescript.ts'

const tables: Readonly<Record<string, readonly ConformanceProgram[]>> = {
  statements,
  functions,
  builtins,
  modules,
  typescript,
  'TypeScript files': typescriptFiles,
  errors,
  'syntax errors': syntaxErrors,
  console: consoles,
  processes,
  interfaces,
}
const engines = ['bun', 'node'] as const
const runningMax = 4

const programs = Object.values(tables).flat()
const leaks = new LeakCheck()
const lazaret = createLazaret()
const settled = new Map<string, PromiseSettledResult<RunResult>>()
const keyOf = (program: ConformanceProgram, engine: EngineName): string =>
  `${programs.indexOf(program)} ${engine}`

async function run(program: ConformanceProgram, engine: EngineName): Promise<void> {
  const { code, language = 'javascript', files, stdin, args, env, input } = program
  const [result] = await Promise.allSettled([
    lazaret.run({
      ...{ code, language, runtime: engine },
      ...(files && { files }),
      ...(stdin !== undefined && { stdin }),
      ...(args && { args }),
      ...(env && { env }),
      ...(input !== undefined && { input }),
    }),
  ])
  settled.set(keyOf(program, engine), result)
}

// All before the first test: several at a time, while each test still has its own line in the report.
before(async () => {
  const waiting = engines.flatMap((engine) => programs.map((program) => ({ program, engine })))
  const work = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop())
      await run(next.program, next.engine)
  }
  const first = waiting.pop()
  if (first !== undefined) await run(first.program, first.engine)
  await leaks.takeBaseline()
  await Promise.all(Array.from({ length: runningMax }, work))
})

after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await leaks.checkDisposed()
})

function resultOf(program: ConformanceProgram, engine: EngineName): RunResult {
  const result = settled.get(keyOf(program, engine))
  assert.ok(result !== undefined, 'It was not run.')
  if (result.status === 'rejected') throw result.reason
  return result.value
}

for (const [area, table] of Object.entries(tables)) {
  for (const engine of engines) {
    describe(`${area}: ${engine}`, () => {
      for (const program of table) {
        test(`runs ${program.title}`, () => {
          const result = resultOf(program, engine)
          const difference = program.differs?.[engine]
          assertResult(result, difference?.expected ?? program.expected)
          if (difference !== undefined)
            assert.throws(() => assertResult(result, program.expected), difference.reason)
        })
      }
    })
  }
}

test('The table has at least 120 programs, each with a title of its own and the chapter it comes from', () => {
  assert.ok(programs.length >= 120, `${programs.length}`)
  for (const [area, table] of Object.entries(tables)) {
    const titles = table.map(({ title, language }) => `${language} ${title}`)
    assert.deepEqual(
      titles.filter((title, index) => titles.indexOf(title) !== index),
      [],
      area,
    )
  }
})

test('Every difference between the engines says why', () => {
  const reasons = programs.flatMap(({ differs = {} }) => Object.values(differs).map(({ reason }) => reason))
  for (const reason of reasons) assert.ok(reason.length >= 30, reason)
})
