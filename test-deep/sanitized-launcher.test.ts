/**
 * The whole launcher under ASan and UBSan, in a copy of this checkout, through the suites that drive it hardest. The
 * sanitizers also work in pid 1, because they are loaded before its root is changed. A finding ends the launcher, and a
 * test that waits for it fails.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { findObstacle } from '../scripts/fuzzing/build-targets.ts'
import { frameType } from '../src/jail/launch/frames.ts'
import { Machine } from '../src/jail/machine/machine.ts'
import { defaultUidRange } from '../src/jail/machine/uid-range.ts'
import { sendPlan, useLauncher } from '../test/jail/launch/raw-launcher.ts'

const root = join(import.meta.dirname, '..')
const suites = [
  'jail/cell/cell',
  'jail/cell/pid-1',
  'jail/cell/own-channel',
  'jail/launch/step-failures',
  'jail/launch/malformed-frames',
  'escape/files/path-tricks',
  'escape/files/collected-files',
  'escape/limits/output-flood',
  'escape/kernel/attack-pid-1',
]
const suiteMs = 100_000

/** Without leak checks: the launcher keeps some memory until its end on purpose. */
const options =
  'const char *__asan_default_options(void) { return "detect_leaks=0:abort_on_error=0:exitcode=99"; }\n'

/** A deliberate bug: a write to a freed block when the hostname is set, which is after the root was changed. */
const defect = `
#include <stdlib.h>
int __real_sethostname(const char *name, size_t length);
int __wrap_sethostname(const char *name, size_t length) {
  volatile char *block = malloc(4);
  free((void *)block);
  block[0] = 1;
  return __real_sethostname(name, length);
}
`

const flags = [
  '-fsanitize=address,undefined',
  '-fno-sanitize-recover=all',
  '-O1',
  '-g',
  '-std=gnu17',
  '-D_GNU_SOURCE',
]

function compile(words: readonly string[], cwd: string): void {
  const { status, stderr } = spawnSync(process.env['CC'] ?? 'cc', [...flags, ...words], {
    cwd,
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
}

/** Compiles each file once, for both programs. */
function compileLauncher(folder: string): string[] {
  writeFileSync(join(folder, 'options.c'), options)
  const cell = join(root, 'native/cell')
  const sources = readdirSync(cell, { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith('.c'),
  )
  const files = [...sources.map((name) => join(cell, name)), join(folder, 'options.c')]
  return files.map((file, index) => {
    const object = join(folder, `${index}.o`)
    compile(['-I', cell, '-c', '-o', object, file], folder)
    return object
  })
}

describe('a launcher under ASan and UBSan', { skip: findObstacle('replay') ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-sanitized-'))
  const copy = join(folder, 'checkout')
  let objects: readonly string[] = []
  before(() => {
    mkdirSync(join(copy, 'native/bin'), { recursive: true })
    for (const part of ['src', 'test', 'dist', 'scripts', 'examples', 'package.json', 'native/cell'])
      cpSync(join(root, part), join(copy, part), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
    objects = compileLauncher(folder)
    compile(['-o', join(copy, `native/bin/cell-linux-${process.arch}`), ...objects], folder)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('notices a write to memory that is free, in the new root too', async () => {
    const defective = join(folder, 'defective')
    writeFileSync(join(folder, 'defect.c'), defect)
    compile(['-o', defective, ...objects, join(folder, 'defect.c'), '-Wl,--wrap=sethostname'], folder)
    await using machine = new Machine({ uidRange: defaultUidRange })
    await using cell = await useLauncher(machine, [defective])
    sendPlan(cell.launcher, cell.plan.records)
    assert.equal((await cell.launcher.frame(frameType.ready))?.type, undefined)
    const gone = await cell.launcher.frame(frameType.gone)
    assert.equal(gone?.payload.readUInt32LE(0), 99 << 8, 'the exit code that the sanitizer was given')
  })

  for (const suite of suites) {
    test(`passes ${suite}`, () => {
      const { status, stdout } = spawnSync(
        process.execPath,
        ['--test', `--test-timeout=${suiteMs}`, `test/${suite}.test.ts`],
        {
          cwd: copy,
          encoding: 'utf8',
          timeout: suiteMs,
          env: { ...process.env, NODE_TEST_CONTEXT: undefined },
        },
      )
      assert.equal(status, 0, stdout.slice(-4000))
      assert.match(stdout, /^ℹ pass [1-9]/m)
    })
  }
})
