/** The skips that count: all except those because of a missing package that the runner does not find either. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { isExcused } from '../../scripts/testing/plan/optional-packages.ts'

test('a skip because of a missing program is a failure if the program exists', () => {
  for (const name of ['strace', 'less', 'clang']) {
    const isHere = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
    assert.equal(isExcused(`${name} is not installed`), !isHere, name)
  }
})

test('a program that is only in a folder of this user is no package', (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-packages-'))
  context.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'cargo'), '#!/bin/sh\n', { mode: 0o755 })
  const { PATH: path } = process.env
  context.after(() => (process.env['PATH'] = path))
  process.env['PATH'] = `${folder}:${path}`
  const isInstalled = ['/usr/local/bin', '/usr/bin', '/bin'].some((bin) => existsSync(`${bin}/cargo`))
  assert.equal(isExcused('cargo is not installed'), !isInstalled)
})

test('a skip because of a missing Python module is a failure if the system’s interpreter has it', () => {
  const python = process.env['LAZARET_TEST_PYTHON'] ?? '/usr/bin/python3'
  const isHere = spawnSync(python, ['-I', '-c', 'import matplotlib'], { cwd: '/' }).status === 0
  assert.equal(isExcused('no Python with matplotlib here'), !isHere)
})

test('other reasons for a skip are failures', () => {
  for (const reason of [
    'python3 is not installed',
    'bun is not installed',
    'cc is not installed, and the loader is written in C',
    'guests have a view of files of their own here',
    'root may read every folder',
    '',
  ])
    assert.equal(isExcused(reason), false, reason)
})
