/** The skips that count: all except those because of a missing package that the runner does not find either. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { isExcused } from '../../scripts/testing/plan/optional-packages.ts'

test('a skip because of a missing program is a failure if the program exists', () => {
  for (const name of ['strace', 'less', 'clang']) {
    const isHere = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
    assert.equal(isExcused(`${name} is not installed`), !isHere, name)
  }
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
