/** The table of deliberate defects fits the sources, and each defect can be noticed on a landing. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'

import { runsOnLanding } from '../../scripts/mutating/landing.ts'
import { mutate } from '../../scripts/mutating/mutation.ts'
import { mutations } from '../../scripts/mutating/mutations.ts'
import { readText } from '../support/sources/checkout.ts'

test('each defect is a change of one place in its file', () => {
  assert.ok(mutations.length >= 30)
  for (const mutation of mutations) {
    const text = readText(mutation.file)
    assert.notEqual(mutate(mutation, text), text, mutation.name)
  }
  const names = mutations.map(({ name }) => name)
  assert.equal(new Set(names).size, names.length)
})

test('each defect must be noticed by test files that the landing of such a change runs', () => {
  for (const { name, file, caughtBy } of mutations) {
    assert.ok(caughtBy.length > 0, name)
    for (const testFile of caughtBy) {
      assert.ok(existsSync(testFile), `${name}: ${testFile}`)
      assert.ok(runsOnLanding(testFile, file), `${name}: a landing does not run ${testFile}`)
    }
  }
})
