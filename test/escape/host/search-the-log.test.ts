/**
 * Text that makes a caller's regular expression backtrack for hours: matching must not block the host's event loop, take
 * its processors, or delay the waits of others.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'

import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { ampleMs } from '../../support/patient-run.ts'
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

/** A line on which this pattern takes hours. */
const [trap, hopeless] = [`echo ${'a'.repeat(40)}!; exec sleep 60`, /^(a+)+$/]

test('a pattern that takes too long ends its wait, and nothing else', { skip: reason }, async () => {
  await using mallory = await lazaret.sandbox({ client: 'mallory' })
  await using honest = await lazaret.sandbox({ client: 'honest' })
  const process = await mallory.startProcess(trap)
  // Two threads search, one search of a client at a time.
  const timeout = ampleMs
  await process.waitForLog('!')
  const threadsBefore = countThreads()
  const slow = Array.from({ length: 4 }, () =>
    assert.rejects(process.waitForLog(hopeless, { timeout }), { code: 'PATTERN_TOO_SLOW' }),
  )
  const mine = await honest.startProcess('echo it is ready; exec sleep 60')
  assert.deepEqual(await mine.waitForLog(/(\w+) is ready/), { line: 'it is ready' })
  assert.ok(countThreads() <= threadsBefore + 2, 'there is a thread for each wait')
  await Promise.all(slow)
  assert.equal(process.status, 'running')
  await mallory.killProcess(process.id)
})

test('a sandbox has a bound on searches of its logs', { skip: reason }, async () => {
  await using sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess('exec sleep 60')
  const waits = Array.from({ length: 64 }, () =>
    assert.rejects(process.waitForLog(/never/), { code: 'PROCESS_ENDED' }),
  )
  await assert.rejects(process.waitForLog('never'), { code: 'QUEUE_FULL', retryable: false })
  await sandbox.killProcess(process.id)
  await Promise.all(waits)
  await assert.rejects(process.waitForLog('never'), { code: 'PROCESS_ENDED' })
})

test('only the end of a very long line is matched', { skip: reason }, async () => {
  await using sandbox = await lazaret.sandbox()
  const process = await sandbox.startProcess(`head -c 200000 /dev/zero | tr '\\0' a; echo b; exec sleep 60`)
  const { line } = await process.waitForLog(/b$/)
  assert.equal(line.length, 64 * 1024)
})

function countThreads(): number {
  return readdirSync('/proc/self/task').length
}
