/** The memory of the host process that an idle sandbox uses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { heldBytes } from '../../support/machine/resident-memory.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret } = await useLazaret({ queue: { memoryTotalBytes: 2 ** 40 }, onEvent: () => undefined })
const KiB = 1024

async function open(count: number) {
  const opened = []
  while (opened.length < count) opened.push(await lazaret.sandbox())
  return opened
}

function bufferBytes(): number {
  heldBytes() // collects what nobody holds
  return process.memoryUsage().arrayBuffers
}

test('an idle sandbox holds less than 12 KiB of buffers', async () => {
  // Creates what exists only once, such as cached plans.
  const first = await open(3)
  const before = bufferBytes()
  const count = 16
  const sandboxes = await open(count)
  const each = (bufferBytes() - before) / count
  await Promise.all([...first, ...sandboxes].map((sandbox) => sandbox.destroy()))
  assert.ok(each < 12 * KiB, `${Math.round(each / KiB)} KiB each`)
})
