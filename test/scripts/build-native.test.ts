import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { checkoutRoot } from '../support/sources/checkout.ts'

test('without a C compiler the build reports that in one sentence, exits with 1 and keeps an existing launcher', () => {
  const launcher = join(checkoutRoot, `native/bin/cell-linux-${process.arch}`)
  const before = readFileSync(launcher)
  const build = spawnSync(process.execPath, [join(checkoutRoot, 'scripts/build-native.ts')], {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], CC: '/nonexistent' },
  })
  assert.equal(build.status, 1)
  assert.equal(build.stdout, '')
  assert.match(build.stderr, /^lazaret: [^\n.]*C compiler[^\n]*\/nonexistent[^\n]*apt-get install[^\n]*\.\n$/)
  assert.deepEqual(readFileSync(launcher), before)
})
