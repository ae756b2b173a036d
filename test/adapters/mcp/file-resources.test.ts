/** Files as resources: the guest chose their bytes, and all clients share the server's event loop. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { contentOf } from '../../../src/adapters/mcp/sandboxes/file-resources.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'

const uri = 'lazaret://a/b'
const MiB = 1024 * 1024
const bytesMax = 8 * MiB

const files: Readonly<Record<string, { readonly bytes: Buffer; readonly mimeType: string }>> = {
  'no text': { bytes: Buffer.alloc(bytesMax, 0xff), mimeType: 'application/octet-stream' },
  'nearly text': {
    bytes: Buffer.alloc(bytesMax, Buffer.from([0xe0, 0x41])),
    mimeType: 'application/octet-stream',
  },
  'text to escape': { bytes: Buffer.alloc(bytesMax - 2, '"Ā'), mimeType: 'text/plain' },
  'control characters': { bytes: Buffer.alloc(bytesMax, 1), mimeType: 'text/plain' },
}

for (const [what, { bytes, mimeType }] of Object.entries(files))
  test(`eight megabytes of ${what} do not block the loop`, async () => {
    const content = await keepLoopFree(what, async () => {
      const made = contentOf(uri, bytes)
      // As the protocol's library sends it.
      JSON.stringify(made)
      return made
    })
    assert.deepEqual(content, { uri, mimeType, blob: bytes.toString('base64') })
  })

test('a text of a megabyte is sent as text', () => {
  const text = 'ü'.repeat(MiB / 2)
  assert.deepEqual(contentOf(uri, Buffer.from(text)), { uri, mimeType: 'text/plain', text })
})
