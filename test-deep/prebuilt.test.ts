/** The prebuilt launcher is what its sources say: the compiler that built it writes the same bytes again. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { architectures, describeCompiler, readPrebuilt, targetsOf, unpack } from '../scripts/prebuilt.ts'
import type { Architecture } from '../scripts/prebuilt.ts'
import { checkoutRoot } from '../test/support/sources/checkout.ts'

const compilers = { x64: 'cc', arm64: 'aarch64-linux-gnu-gcc' } as const

for (const architecture of architectures) {
  const skip =
    describeCompiler(compilers[architecture]) !== readPrebuilt(architecture)?.compiler &&
    `the compiler for ${architecture} is not the one of the prebuilt launcher`
  test(`the compiler for ${architecture} builds the prebuilt files again, byte for byte`, { skip }, () => {
    rebuild(architecture)
  })
}

function rebuild(architecture: Architecture): void {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-rebuilt-'))
  try {
    for (const name of ['scripts/build-native.ts', 'scripts/prebuilt.ts', 'native'])
      cpSync(join(checkoutRoot, name), join(folder, name), { recursive: true })
    rmSync(join(folder, 'native/bin'), { recursive: true, force: true })
    const built = spawnSync(
      process.execPath,
      [join(folder, 'scripts/build-native.ts'), '--arch', architecture],
      {
        encoding: 'utf8',
      },
    )
    assert.equal(built.status, 0, built.stderr)
    for (const name of targetsOf(architecture))
      assert.ok(readFileSync(join(folder, 'native/bin', name)).equals(unpack(name)), name)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
