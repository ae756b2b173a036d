/**
 * The launcher's parsers against generated inputs: first all known ones, with any compiler; then, if clang
 * and its runtime are installed, new ones for a second per target. `npm run fuzz` does this for longer.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import { buildTargets, findObstacle, requireHarmless } from '../scripts/fuzzing/build-targets.ts'
import { writeInputs } from '../scripts/fuzzing/corpus.ts'
import { targets } from '../scripts/fuzzing/targets.ts'
import { testLauncherFuzzing } from '../test/support/sizes/launcher-fuzzing-tests.ts'

const seconds = 1
const folder = mkdtempSync(join(tmpdir(), 'lazaret-fuzz-'))
after(() => rmSync(folder, { recursive: true, force: true }))

test('every fuzz target that has a file is run', () => {
  const files = readdirSync(join(import.meta.dirname, '../native/fuzz'))
  const named = files.flatMap((file) => /^target-(.*)\.c$/.exec(file)?.[1] ?? [])
  assert.deepEqual(named.toSorted(), targets.map(({ name }) => name).toSorted())
})

test('a target that could reach the real kernel is refused', () => {
  const [source, object] = [join(folder, 'harm.c'), join(folder, 'harm.o')]
  writeFileSync(source, '#include <unistd.h>\nint harm(const char *path) { return unlink(path); }\n')
  assert.equal(spawnSync(process.env['CC'] ?? 'cc', ['-c', source, '-o', object]).status, 0)
  assert.throws(() => requireHarmless([object]), /would call unlink for real/)
})

describe('known inputs, under ASan and UBSan,', { skip: findObstacle('replay') ?? false }, () => {
  const programs = buildTargets('replay', targets, folder)
  for (const { name } of targets) {
    test(`break nothing in ${name}`, () => {
      const inputs = writeInputs(name, join(folder, 'known', name))
      assert.ok(inputs.length > 5, 'there is nothing to replay')
      const { status, stdout, stderr } = spawnSync(programs.get(name) ?? '', inputs, { encoding: 'utf8' })
      assert.equal(status, 0, `${stdout}${stderr.slice(-4000)}`)
      assert.match(stdout, new RegExp(`^${inputs.length} inputs, 0 crashed`))
    })
  }
})

testLauncherFuzzing(seconds, folder)
