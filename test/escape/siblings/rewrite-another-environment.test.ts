/**
 * Hostile build code rewrites the record, the lock or the files of another environment: by a forged report, and by a process
 * that survives its build and swaps what was installed or downloaded.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { withoutPip } from '../../environments/packages.ts'
import { useEnvironments } from '../../environments/use-environments.ts'
import { poisonEnvironment, requireSameFromLock } from '../../support/sizes/poisoned-environments.ts'

const ground = await useEnvironments()
const skip = withoutPip

test('a forged report and swapped files change no environment, not even the own', { skip }, async () => {
  assert.equal(await poisonEnvironment(ground, 0), 'built')
})

test('the lock of the other environment installs the same again', { skip }, async () => {
  await requireSameFromLock(ground)
})

test('archives that nobody asked for end the build', { skip }, async () => {
  await ground.lazaret.environments.remove('victim')
  assert.equal(await poisonEnvironment(ground, 1), 'refused')
})
