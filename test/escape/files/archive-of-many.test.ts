/**
 * A folder, or an archive, of tens of thousands of empty files: each costs the host a little, and together they must
 * not block its event loop.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { rawTar } from '../../sandbox/files/raw-tar.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const skip = await whyNoSandboxes()
const { lazaret } = await useLazaret()

const count = 30_000
const headerBytes = 512

test('a folder of many files is packed without blocking the event loop', { skip }, async () => {
  await using sandbox = await lazaret.sandbox()
  await sandbox.exec(`seq ${count} | xargs touch`)
  const bytes = await keepLoopFree('packing', async () => {
    let sum = 0
    for await (const piece of sandbox.downloadTar()) sum += piece.length
    return sum
  })
  assert.ok(bytes > count * headerBytes, `${bytes} bytes`)
})

test(
  'an archive of many files, in one piece, is unpacked without blocking the event loop',
  { skip },
  async () => {
    const archive = rawTar(
      ...Array.from({ length: count }, (_, index) => ({ name: `${index}`, content: '' })),
    )
    const { entries } = await keepLoopFree('unpacking', async () => {
      await using sandbox = await lazaret.sandbox()
      return await sandbox.uploadTar(archive)
    })
    assert.equal(entries, count)
  },
)
