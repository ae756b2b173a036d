/** A run that is cancelled while its guest floods the host leaves nothing in the host process. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const program = join(import.meta.dirname, '../../support/hosts/cancelling-host.ts')

test('a host that cancelled runs while it read a large message from them ends by itself', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  assert.equal(stdout, 'cancelled,'.repeat(8))
})
