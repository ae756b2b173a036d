/** CPython's own tests inside a cell and outside: except for the walls, each must end in the same way. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { ProtectionLevel } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import type { TestLazaret } from '../../support/use-lazaret.ts'
import { findUnexplained } from './regression-modules.ts'
import { findPythonWithTests, listDifferences, runInside, runOutside } from './regression.ts'
import type { Outcomes } from './regression.ts'

interface Ends {
  readonly inside: Outcomes
  readonly outside: Outcomes
}

/** Modules at a time. Some of them measure time, and many wait rather than compute. */
const concurrency = 2

/** Declares the tests. `modulesAt` returns the modules for the level of this machine. */
export async function testRegression(
  modulesAt: (level: ProtectionLevel) => readonly string[],
): Promise<void> {
  const python = findPythonWithTests()
  const { lazaret, level } = await useLazaret(python === null ? {} : { toolchains: { python: python.path } })
  const modules = modulesAt(level)
  const skip =
    python === null &&
    'no interpreter here has the tests of CPython (such as Debian’s libpython3.11-testsuite)'
  // All run before the first test, because leftovers can only be detected while nothing else runs.
  const ended =
    python === null
      ? new Map<string, PromiseSettledResult<Ends>>()
      : await runAll(lazaret, modules, python.path)

  suite("CPython's own tests", { skip }, () => {
    for (const module of modules) {
      test(`${module} has the same result in a cell as outside, except for expected refusals`, () => {
        const ends = ended.get(module)
        assert.ok(ends !== undefined)
        if (ends.status === 'rejected') throw ends.reason
        const { inside, outside } = ends.value
        assert.deepEqual(findUnexplained(listDifferences(inside, outside), { module, level }), new Map())
        assert.ok(countPassed(inside) >= 1 || countPassed(outside) >= 1, 'nothing passed')
      })
    }

    test('they contain thousands of tests, most of which pass', () => {
      const all = [...ended.values()].flatMap((ends) =>
        ends.status === 'fulfilled' ? [ends.value.inside] : [],
      )
      const passed = all.reduce((sum, inside) => sum + countPassed(inside), 0)
      assert.ok(passed >= modules.length * 40, `${passed} of ${modules.length} modules`)
    })
  })
}

/** Runs each outside and then inside, in order, a few at a time. */
async function runAll(
  lazaret: TestLazaret['lazaret'],
  names: readonly string[],
  interpreter: string,
): Promise<ReadonlyMap<string, PromiseSettledResult<Ends>>> {
  const results = new Map<string, PromiseSettledResult<Ends>>()
  const run = async (module: string): Promise<Ends> => {
    const outside = await runOutside(interpreter, module)
    return { outside, inside: await runInside(lazaret, module) }
  }
  const waiting = names.values()
  const work = async () => {
    for (const module of waiting) {
      const [result] = await Promise.allSettled([run(module)])
      results.set(module, result)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return results
}

function countPassed(outcomes: Outcomes): number {
  return [...outcomes.values()].filter((outcome) => outcome === 'passed').length
}
