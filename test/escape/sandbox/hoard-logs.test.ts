/** Output that stays on the host after its process has ended, and readers who follow it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import type { OutputChunk } from '../../../src/index.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const reason = await whyNoSandboxes()
const { lazaret } = await useLazaret()

const MiB = 1024 * 1024

test(
  'the logs of many ended processes take a bounded part of the host, and the last is complete',
  { skip: reason },
  async () => {
    await using sandbox = await lazaret.sandbox()
    const flood = `head -c ${MiB} /dev/zero | tee /dev/stderr`
    const start = async (command: string) => {
      const process = await sandbox.startProcess(command)
      await process.waitForExit()
      return process
    }
    const [first, last] = await keepHeldFlat(async () => {
      const oldest = await start(flood)
      for (let count = 0; count < 40; count++) await start(flood)
      return [oldest, await start('echo newest')]
    })
    assert.deepEqual(first.getLogs(), { stdout: '', stderr: '', truncated: ['stdout', 'stderr'] })
    assert.deepEqual(last.getLogs(), { stdout: 'newest\n', stderr: '' })
    const { logs } = lazaret.stats().held.kinds
    assert.ok(logs > 0 && logs <= 16 * MiB, `${logs} bytes are counted`)
  },
)

test('the host forgets processes whose commands are very long', { skip: reason }, async () => {
  await using sandbox = await lazaret.sandbox()
  const command = 'true '.padEnd(MiB / 8, 'a')
  for (let count = 0; count < 5; count++) await (await sandbox.startProcess(command)).waitForExit()
  assert.equal(sandbox.listProcesses().length, 3)
  assert.equal(lazaret.stats().held.kinds.bodies, 0)
})

test('what a sandbox has printed no longer counts when it is gone', { skip: reason }, async () => {
  const sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess('echo printed; exec sleep 60')
  await process.waitForLog('printed')
  assert.ok(lazaret.stats().held.kinds.logs > 0)
  await sandbox.destroy()
  assert.equal(lazaret.stats().held.kinds.logs, 0)
  assert.equal(process.getLogs().stdout, 'printed\n')
})

test('a sandbox has a bound on followers of its logs', { skip: reason }, async () => {
  await using sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess('echo printed; exec sleep 60')
  const followers = Array.from({ length: 64 }, () => process.streamLogs()[Symbol.asyncIterator]())
  for (const follower of followers)
    assert.equal(((await follower.next()).value as OutputChunk).text, 'printed\n')
  assert.throws(() => process.streamLogs(), { code: 'QUEUE_FULL', retryable: false })
  await followers[0]?.return?.(undefined)
  const [, ...others] = followers
  for await (const { text } of process.streamLogs()) {
    assert.equal(text, 'printed\n')
    break
  }
  await sandbox.killProcess(process.id)
  for (const follower of others) assert.equal((await follower.next()).done, true)
})
