/**
 * The launcher's parsers against made-up inputs: first everything that is known, with any compiler; then, where clang
 * and its runtime are there, new ones for half a minute over all targets together. `npm run fuzz` does this for longer.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import { buildTargets, findObstacle, requireHarmless } from '../scripts/fuzzing/build-targets.ts'
import { writeInputs } from '../scripts/fuzzing/corpus.ts'
import { runTarget } from '../scripts/fuzzing/run-target.ts'
import { targets } from '../scripts/fuzzing/targets.ts'

const seconds = Math.floor(30 / targets.length)
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

describe(`new inputs, for ${seconds} s a target,`, { skip: findObstacle('fuzz') ?? false }, () => {
  const programs = buildTargets('fuzz', targets, folder)
  for (const target of targets) {
    test(`break nothing in ${target.name}`, async (context) => {
      const corpus = join(folder, 'new', target.name)
      writeInputs(target.name, corpus)
      const lines: string[] = []
      const result = await runTarget(programs.get(target.name) ?? '', target, {
        seconds,
        corpus,
        findingsFolder: join(folder, 'findings'),
        onProgress: (line) => lines.push(line),
      })
      const shown = result.findings.map((file) => {
        const isFile = file.startsWith('/')
        return `${file}: ${isFile ? readFileSync(file).toString('base64') : ''}`
      })
      assert.deepEqual(shown, [], lines.at(-1))
      assert.ok(result.executions > 0)
      context.diagnostic(
        `${result.executions} executions, ${result.executionsPerSecond} a second, ${result.edges} edges`,
      )
    })
  }
})
