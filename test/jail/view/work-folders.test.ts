import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

import { nameOfThisHost } from '../../../src/jail/machine/host-identity.ts'
import { UidAllocator } from '../../../src/jail/machine/uid-range.ts'
import { WorkFolders, removeRun } from '../../../src/jail/view/work-folders.ts'

const claims = mkdtempSync(join(tmpdir(), 'lazaret-ids-'))
const folder = mkdtempSync(join(tmpdir(), 'lazaret-work-'))
process.env['TMPDIR'] = folder
after(() => [claims, folder].forEach((path) => rmSync(path, { recursive: true, force: true })))

const ids = new UidAllocator({ first: 3_700_000_000, count: 256 }, [claims])

/** Creates what a launcher leaves behind if it fails, or is killed, before it has cleaned up. */
function leaveRun(path: string): void {
  for (const name of ['workspace', 'tmp']) mkdirSync(join(path, name), { recursive: true })
  writeFileSync(join(path, 'package.json'), '{}')
  writeFileSync(join(path, 'workspace/file'), 'left')
}

const deeperThanAnyPath = `
import os, sys
os.chdir(sys.argv[1])
for _ in range(300):
    os.mkdir('d' * 200)
    os.chdir('d' * 200)
open('file', 'w').close()`

test('a run’s folder is removed, even with trees that are deeper than the longest path', async () => {
  const path = join(folder, 'run')
  leaveRun(path)
  const { status } = spawnSync('python3', ['-c', deeperThanAnyPath, join(path, 'tmp')])
  assert.equal(status, 0)
  await removeRun(path, { endsGuests: false })
  assert.equal(existsSync(path), false)
})

test('an empty folder is removed, and a missing one is no error', async () => {
  const path = join(folder, 'empty')
  mkdirSync(path)
  await removeRun(path, { endsGuests: false })
  await removeRun(path, { endsGuests: false })
  assert.equal(existsSync(path), false)
})

test('guests with their own ids can pass through its parent, whatever the umask is', () => {
  const umask = process.umask(0o077)
  try {
    const parent = dirname(new WorkFolders().next())
    assert.equal(statSync(parent).mode & 0o777, 0o711)
    rmdirSync(parent)
  } finally {
    process.umask(umask)
  }
})

test('leftovers of a dead host are removed, and folders of a live one are not', async () => {
  const live = nameOfThisHost()
  const dead = live.replace(`-${process.pid}-`, `-${2 ** 22 + 1}-`) // above the largest possible pid
  for (const name of [live, dead, 'lazaret-something-else']) leaveRun(join(folder, name, 'run-1'))
  await new WorkFolders().sweep(ids)
  assert.deepEqual(readdirSync(folder).toSorted(), [live, 'lazaret-something-else'].toSorted())
  assert.equal(existsSync(join(folder, live, 'run-1/workspace/file')), true)
})
