/** Which skips count: all of them but those because of a missing package that the runner does not find either. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

import { isExcused } from '../../scripts/testing/plan/optional-packages.ts'

test('a skip because a program is missing counts where that program is', () => {
  for (const name of ['strace', 'less', 'clang']) {
    const isHere = spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
    assert.equal(isExcused(`${name} is not installed`), !isHere, name)
  }
})

test('a skip because a module of Python is missing counts where the interpreter of the system has it', () => {
  const python = process.env['LAZARET_TEST_PYTHON'] ?? '/usr/bin/python3'
  const isHere = spawnSync(python, ['-I', '-c', 'import matplotlib'], { cwd: '/' }).status === 0
  assert.equal(isExcused('no Python with matplotlib here'), !isHere)
})

test('what a machine must have to be tested on is no excuse, and neither is anything else', () => {
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
