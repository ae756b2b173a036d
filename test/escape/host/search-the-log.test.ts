/** Text that makes a caller's regular expression backtrack for hours: matching must not block the host's event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const reason = await whyNoSandboxes()
const { lazaret } = await useLazaret()

const floods = {
  'a line without an end, byte by byte': `while :; do printf a; done`,
  'a line without an end': `exec tr '\\0' a < /dev/zero`,
  'lines that nearly match': `exec yes ${'a'.repeat(5000)}!`,
  'empty lines': `exec yes ''`,
}

const patterns = {
  'words before a word': /(\w+) is ready/,
  'nested repetition': /^(a+)+b$/,
  text: 'is ready',
}

for (const [flood, command] of Object.entries(floods))
  for (const [kind, pattern] of Object.entries(patterns))
    test(`${flood}: waiting for ${kind} ends in time`, { skip: reason }, async () => {
      await using sandbox = await lazaret.sandbox()
      const process = await sandbox.startProcess(command)
      await keepLoopFree(`${flood}, ${kind}`, () =>
        assert.rejects(process.waitForLog(pattern, { timeout: 500 }), { code: 'WAIT_TIMED_OUT' }),
      )
      await sandbox.killProcess(process.id)
    })

test('an awaited line is found behind a flood, and by later waits, too', { skip: reason }, async () => {
  await using sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess(`yes | head -c 300000; echo it is ready; exec sleep 60`)
  for (const pattern of [/(\w+) is ready/, 'is ready'])
    assert.deepEqual(await process.waitForLog(pattern), { line: 'it is ready' })
})
