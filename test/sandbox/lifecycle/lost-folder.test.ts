/** A folder may be deleted while a session is in it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'

const lazaret = createLazaret({ onEvent: () => undefined })
after(() => lazaret[Symbol.asyncDispose]())

test('a session whose folder is gone reports that once, and continues in its first folder', async () => {
  await using sandbox = await lazaret.sandbox()
  const { stdout: workspace } = await sandbox.exec('pwd')
  await sandbox.exec('export KEPT=1; mkdir built; cd built; rmdir ../built')
  const lost = await sandbox.exec('echo ran')
  assert.deepEqual([lost.exitCode, lost.stdout], [1, ''])
  assert.match(lost.stderr, /^Failed to change directory to \S+\/built\n$/)
  const next = await sandbox.exec('pwd; echo $KEPT')
  assert.equal(next.stdout, `${workspace}1\n`)
})

test('a command with a missing folder does not run', async () => {
  await using sandbox = await lazaret.sandbox()
  const lost = await sandbox.exec('echo ran', { cwd: '/nowhere' })
  assert.deepEqual(
    [lost.exitCode, lost.stdout, lost.stderr],
    [1, '', 'Failed to change directory to /nowhere\n'],
  )
})

test('a workspace that commands have closed to themselves is their doing, and can be opened again', async () => {
  await using sandbox = await lazaret.sandbox()
  await sandbox.exec('chmod 0 /workspace')
  const closed = { code: 'FILE_REFUSED', kind: 'refusal', message: /cannot be entered: EACCES/ }
  await assert.rejects(sandbox.readFile('a'), closed)
  await assert.rejects(sandbox.runCode('1'), closed)
  assert.equal((await sandbox.exec('chmod 755 /workspace', { cwd: '/tmp' })).exitCode, 0)
  await sandbox.writeFile('a', 'back')
  assert.equal(await sandbox.readFile('a'), 'back')
  assert.equal((await sandbox.runCode('1 + 1')).value, 2)
})
