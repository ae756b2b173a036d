/** The faster ones of CPython's own tests, inside and outside a cell; the others are in `test-deep/`. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { useLazaret } from '../../support/use-lazaret.ts'
import { dailyModules } from './regression-modules.ts'
import { findPythonWithTests, listDifferences, runInside, runOutside } from './regression.ts'

const python = findPythonWithTests()
const { lazaret } = await useLazaret(python === null ? {} : { toolchains: { python: python.path } })
const skip =
  python === null && 'no interpreter here has the tests of CPython (such as Debian’s libpython3.11-testsuite)'

suite("CPython's own tests", { skip }, () => {
  for (const module of dailyModules) {
    test(`${module} passes and skips in a cell what it does outside`, async () => {
      const [inside, outside] = await Promise.all([
        runInside(lazaret, module),
        runOutside(python?.path ?? '', module),
      ])
      assert.deepEqual(listDifferences(inside, outside), new Map())
      assert.ok([...inside.values()].filter((outcome) => outcome === 'passed').length > 20)
    })
  }
})
