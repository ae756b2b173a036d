/** The prebuilt launcher is what its sources say: the compiler that built it writes the same bytes again. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { describeCompiler, readPrebuilt, unpack } from '../scripts/prebuilt.ts'
import { checkoutRoot } from '../test/support/sources/checkout.ts'

const prebuilt = readPrebuilt()
const names = ['cell-linux-x64', 'zygote-linux-x64.so', 'javascript-zygote-linux-x64.so']
const skip =
  (prebuilt === undefined || describeCompiler('cc') !== prebuilt.compiler) &&
  'the compiler is not the one of the prebuilt launcher'

test('its compiler builds the prebuilt files again, byte for byte, in another folder', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-rebuilt-'))
  try {
    for (const name of ['scripts/build-native.ts', 'scripts/prebuilt.ts', 'native'])
      cpSync(join(checkoutRoot, name), join(folder, name), { recursive: true })
    rmSync(join(folder, 'native/bin'), { recursive: true, force: true })
    const built = spawnSync(process.execPath, [join(folder, 'scripts/build-native.ts')], { encoding: 'utf8' })
    assert.equal(built.status, 0, built.stderr)
    for (const name of names)
      assert.ok(readFileSync(join(folder, 'native/bin', name)).equals(unpack(name)), name)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
