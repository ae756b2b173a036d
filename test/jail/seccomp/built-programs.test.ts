/** The filters in the build are the same as those that a checkout compiles on demand. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { builtAhead, nameOfBuilt } from '../../../src/jail/seccomp/built-programs.ts'
import { buildProgram } from '../../../src/jail/seccomp/program.ts'

const built = join(import.meta.dirname, '../../../dist/jail/seccomp')

for (const options of builtAhead) {
  const name = nameOfBuilt(options) ?? ''
  test(`${name} in the package is the filter of its guests`, () => {
    assert.deepEqual(new Uint8Array(readFileSync(join(built, name))), new Uint8Array(buildProgram(options)))
  })
}

test('guests with other rules than most have no filter that was made ahead', () => {
  const usual = { architecture: 'x64', memoryHeldByCgroup: true } as const
  assert.equal(nameOfBuilt({ ...usual, canSpawn: false }), undefined)
  assert.equal(nameOfBuilt({ ...usual, entersSpaces: true }), undefined)
  assert.equal(nameOfBuilt({ ...usual, keepsAdopting: 'splits' }), undefined)
  assert.equal(nameOfBuilt({ ...usual, sharesHost: { network: false, owner: false } }), undefined)
})
