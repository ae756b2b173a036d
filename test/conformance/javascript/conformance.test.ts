/**
 * The same programs in both engines, with the same expectations. If a row names a difference of an engine, that engine
 * must differ, so the difference has to be removed when the engine no longer does.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createLazaret } from '../../support/create-lazaret.ts'
import type { RunRequest, RunResult } from '../../../src/index.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { canBeParked, runParked } from '../../support/run-parked.ts'
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
/** The ways to run each program: in a newly started process, and in a fork of a Bun that has executed sample runs. */
const ways = ['bun', 'node', 'a fork of bun'] as const
type Way = (typeof ways)[number]
const engineOf = (way: Way): EngineName => (way === 'node' ? 'node' : 'bun')
const runningMax = 4

const programs = Object.values(tables).flat()
const leaks = new LeakCheck()
const lazaret = createLazaret({ pools: { bun: { forks: false } } })
const forking = createLazaret()
const runForked = runParked(forking)
const settled = new Map<string, PromiseSettledResult<RunResult>>()
const keyOf = (program: ConformanceProgram, way: Way): string => `${programs.indexOf(program)} ${way}`

async function run(program: ConformanceProgram, way: Way): Promise<void> {
  const { code, language = 'javascript', files, stdin, args, env, input } = program
  const request: RunRequest = {
    ...{ code, language, runtime: engineOf(way) },
    ...(files && { files }),
    ...(stdin !== undefined && { stdin }),
    ...(args && { args }),
    ...(env && { env }),
    ...(input !== undefined && { input }),
  }
  const isForked = way === 'a fork of bun' && canBeParked(request)
  const [result] = await Promise.allSettled([isForked ? runForked(request) : lazaret.run(request)])
  settled.set(keyOf(program, way), result)
}

before(async () => {
  const [first] = programs
  if (first !== undefined) await run(first, 'bun')
  await leaks.takeBaseline()
})

after(async () => {
  await lazaret[Symbol.asyncDispose]()
  await forking[Symbol.asyncDispose]()
  await leaks.checkDisposed()
})

function resultOf(program: ConformanceProgram, way: Way): RunResult {
  const result = settled.get(keyOf(program, way))
  assert.ok(result !== undefined, 'It was not run.')
  if (result.status === 'rejected') throw result.reason
  return result.value
}

for (const way of ways) {
  describe(way, () => {
    // All programs run before the first test, several at a time, and still each has its own test in the report.
    before(async () => {
      const waiting = programs.toReversed()
      const work = async (): Promise<void> => {
        for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await run(next, way)
      }
      await Promise.all(Array.from({ length: runningMax }, work))
    })

    for (const [area, table] of Object.entries(tables)) {
      for (const program of table) {
        test(`${area}: runs ${program.title}`, () => {
          const result = resultOf(program, way)
          const difference = program.differs?.[engineOf(way)]
          assertResult(result, difference?.expected ?? program.expected)
          if (difference !== undefined)
            assert.throws(() => assertResult(result, program.expected), difference.reason)
        })
      }
    }
  })
}

test('The table has at least 120 programs, each with a unique title and its chapter', () => {
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

test('Every difference between the engines has a reason', () => {
  const reasons = programs.flatMap(({ differs = {} }) => Object.values(differs).map(({ reason }) => reason))
  for (const reason of reasons) assert.ok(reason.length >= 30, reason)
})
