/** `sudo lazaret token`: the file still belongs to the user of the server. */
import assert from 'node:assert/strict'
import { chownSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli } from '../spawn-cli.ts'

const skip = process.getuid?.() === 0 ? false : 'only root can give a file away'
const server = 65_534

test('a token file that root changes keeps its owner', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-owner-'))
  const file = join(folder, 'tokens.json')
  const change = async (...args: readonly string[]): Promise<void> =>
    assert.equal((await runCli(['token', ...args, '--tokens', file])).exitCode, 0)
  try {
    await change('create', '--name', 'one')
    chownSync(file, server, server)
    await change('create', '--name', 'two')
    await change('revoke', 'one')
    const { uid, gid, mode } = statSync(file)
    assert.deepEqual([uid, gid, mode & 0o777], [server, server, 0o600])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
