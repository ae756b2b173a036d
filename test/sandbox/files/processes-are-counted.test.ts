/** A file operation is also a process of the space: it must not lift the limits of the space's guests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'

const program = `
import os, time
print('up', flush=True)
while not os.path.exists('go'): time.sleep(0.01)
children = []
try:
    while len(children) < 60:
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        children.append(child)
    time.sleep(5) # who counts from time to time has looked by then
except OSError: pass
print(len(children))
for child in children: os.kill(child, 9)
`

test('processes are counted after an operation on files as they were before', async () => {
  await using lazaret = createLazaret({ onEvent() {} })
  const processesMax = 16
  await using sandbox = await lazaret.sandbox({ limits: { processesMax }, files: { 'fork.py': program } })
  const isUp = Promise.withResolvers<void>()
  const ended = sandbox.exec('python3 fork.py', { timeout: 20_000, onOutput: () => isUp.resolve() })
  await Promise.race([isUp.promise, ended])
  await sandbox.writeFile('go', '')
  const { outcome, stdout } = await ended
  if (outcome.kind === 'limit-exceeded') {
    assert.deepEqual(outcome, { kind: 'limit-exceeded', limit: 'processes', allowed: processesMax })
    return
  }
  const forked = Number(stdout.split('\n')[1])
  assert.ok(forked > 0 && forked < processesMax, stdout)
})
