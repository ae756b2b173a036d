/** The launcher that a checkout brings, for machines without a C compiler. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import {
  architectures,
  hashOf,
  hashSources,
  readPrebuilt,
  targetsOf,
  unpack,
} from '../../scripts/prebuilt.ts'
import { checkoutRoot } from '../support/sources/checkout.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-prebuilt-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const skip = process.arch !== 'x64' && 'there is no prebuilt launcher for this processor'
const launcher = `cell-linux-${process.arch}`

for (const architecture of architectures) {
  test(`the native parts for ${architecture} were built from these sources, and are the recorded files`, () => {
    const { sources, files } = readPrebuilt(architecture) ?? {}
    assert.equal(sources, hashSources(), 'run `npm run build:native -- --keep`, and commit native/prebuilt')
    const unpacked = targetsOf(architecture).map((name) => [name, hashOf(unpack(name))])
    assert.deepEqual(files, Object.fromEntries(unpacked))
  })
}

/** Builds in a copy of the sources, without a compiler. */
function buildWithoutCompiler(): { status: number | null; stderr: string } {
  const env = { ...process.env, CC: '/nonexistent/cc' }
  const script = join(folder, 'scripts/build-native.ts')
  return spawnSync(process.execPath, [script, '--unless-current'], { encoding: 'utf8', env })
}

test('a checkout without a compiler gets it, and only if it fits the sources', { skip }, () => {
  for (const name of ['scripts/build-native.ts', 'scripts/prebuilt.ts', 'native/prebuilt'])
    cpSync(join(checkoutRoot, name), join(folder, name), { recursive: true })
  for (const name of ['cell', 'relay', 'zygote'])
    cpSync(join(checkoutRoot, 'native', name), join(folder, 'native', name), { recursive: true })

  const built = buildWithoutCompiler()
  assert.deepEqual({ status: built.status, stderr: built.stderr }, { status: 0, stderr: '' })
  assert.deepEqual(readFileSync(join(folder, 'native/bin', launcher)), unpack(launcher))

  rmSync(join(folder, 'native/bin'), { recursive: true })
  appendFileSync(join(folder, 'native/cell/main.c'), '/* changed */')
  const refused = buildWithoutCompiler()
  assert.equal(refused.status, 1)
  assert.match(refused.stderr, /no C compiler was found .* and the prebuilt launcher does not fit/)
})
