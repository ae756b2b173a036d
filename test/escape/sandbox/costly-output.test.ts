/** The end of a command's output, in which the host looks for errors of limits: text that nearly is such an error. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const reason = await whyNoSandboxes()
const { lazaret } = await useLazaret()

for (const word of ['spawn ', '-spawn', 'fork: retry: ', '-cannot '])
  test(`a line that repeats '${word}' does not block the host`, { skip: reason }, async () => {
    await using sandbox = await lazaret.sandbox()
    const command = `yes -- '${word}' | tr -d '\\n' | head -c 200000 | tee /dev/stderr`
    const { stdout, touched } = await keepLoopFree(word, () => sandbox.exec(command))
    assert.equal(stdout.length, 200_000)
    assert.deepEqual(touched, [])
  })

test('the error of a program that could start no other one is found', { skip: reason }, async () => {
  await using sandbox = await lazaret.sandbox()
  const { touched } = await sandbox.exec(`echo 'Error: spawn /usr/bin/node EAGAIN' >&2`)
  assert.deepEqual(
    touched.map(({ limit }) => limit),
    ['processesMax'],
  )
})
