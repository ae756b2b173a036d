import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { systemClock } from '../../../src/core/clock.ts'
import { findSocket, searchBounds } from '../../../src/jail/machine/socket-search.ts'

const outer = mkdtempSync(join(tmpdir(), 'lazaret-search-'))
after(() => rmSync(outer, { recursive: true, force: true }))

function makeFolder(name: string): string {
  const folder = join(outer, name)
  mkdirSync(join(folder, 'down/deeper'), { recursive: true })
  for (const path of ['a', 'b', 'down/c', 'down/deeper/d']) writeFileSync(join(folder, path), '')
  return folder
}

test('a folder of files, folders and links is accepted', async () => {
  const folder = makeFolder('plain')
  const elsewhere = makeFolder('elsewhere')
  execFileSync('mkfifo', [join(elsewhere, 'pipe')])
  symlinkSync(elsewhere, join(folder, 'link'))
  symlinkSync(join(elsewhere, 'pipe'), join(folder, 'down/link'))
  assert.equal(await findSocket(folder, systemClock), undefined)
})

test('a socket is found at any depth, and if it is shown itself or through a link', async () => {
  const folder = makeFolder('deep')
  const path = join(folder, 'down/deeper/pipe')
  execFileSync('mkfifo', [path])
  symlinkSync(folder, join(outer, 'by-link'))
  for (const shown of [folder, join(outer, 'by-link'), path])
    assert.deepEqual(await findSocket(shown, systemClock), { what: 'is a named pipe', path })
})

test('a folder that is too large to search is refused', async () => {
  const folder = makeFolder('large')
  const exact = { ...searchBounds, entriesMax: 6 }
  assert.equal(await findSocket(folder, systemClock, exact), undefined)
  const fewer = await findSocket(folder, systemClock, { ...searchBounds, entriesMax: 5 })
  assert.deepEqual(fewer, { what: 'has more than 5 entries to look through', path: folder })
  const shorter = await findSocket(folder, systemClock, { ...searchBounds, folderNamesMax: 10 })
  assert.deepEqual(shorter, { what: 'has too many folders to look through', path: folder })
  let now = 0
  const slow = { ...systemClock, now: () => (now += 6) }
  // The search of so small a folder may take no measurable time.
  const late = await findSocket(folder, slow, { ...searchBounds, searchMs: -1 })
  assert.deepEqual(late, { what: 'takes more than -1 ms of processor time to look through', path: folder })
})

test('a folder is not too large because the machine is busy with other work', async () => {
  const hourMs = 3_600_000
  let now = 0
  const busy = { ...systemClock, now: () => (now += hourMs) }
  assert.equal(await findSocket(makeFolder('busy'), busy), undefined)
})

test('other work gets turns of the event loop during the search', async () => {
  const folder = makeFolder('turns')
  let now = 0
  const slow = { ...systemClock, now: () => (now += 6) }
  let turns = 0
  const count = setInterval(() => turns++, 0)
  await findSocket(folder, slow)
  clearInterval(count)
  assert.ok(turns > 0)
})

test('a folder that can be entered but not listed is refused; a closed one is allowed', async () => {
  const folder = makeFolder('closed')
  const isRoot = process.getuid?.() === 0
  chmodSync(join(folder, 'down'), 0o100)
  const entered = await findSocket(folder, systemClock)
  const refusal = { what: 'cannot be looked through (EACCES)', path: folder }
  assert.deepEqual(entered, isRoot ? undefined : refusal)
  chmodSync(join(folder, 'down'), 0)
  assert.equal(await findSocket(folder, systemClock), undefined)
  chmodSync(join(folder, 'down'), 0o700)
  const missing = await findSocket(join(folder, 'gone'), systemClock)
  assert.equal(missing?.what, 'cannot be looked through (ENOENT)')
})
