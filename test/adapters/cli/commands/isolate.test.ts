/** `lazaret run --runtime isolate` as a process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { runCli } from '../spawn-cli.ts'

test('a program runs in an isolate from the command line', async () => {
  const {
    stdout,
    stderr,
    exitCode: status,
  } = await runCli([
    'run',
    '--minimum',
    'restricted',
    '--runtime',
    'isolate',
    '-l',
    'typescript',
    '-e',
    'const a: number = 6; console.log(a * 7)',
  ])
  assert.deepEqual([stdout.trim(), stderr, status], ['42', '', 0])
})

test('an error has its line and an exit code', async () => {
  const { stderr, exitCode: status } = await runCli([
    'run',
    '--minimum',
    'restricted',
    '--runtime',
    'isolate',
    '-l',
    'javascript',
    '-e',
    'null.a',
  ])
  assert.match(stderr, /TypeError.*\n.*<code>:1/)
  assert.equal(status, 1)
})
