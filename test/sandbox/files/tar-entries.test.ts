/** What the host takes from a tar of somebody else, before any of it reaches a sandbox. tar-attacks.test.ts has more, with one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { readTarEntries } from '../../../src/sandbox/files/tar/tar-entries.ts'
import { rawTar } from './raw-tar.ts'
import type { RawEntry } from './raw-tar.ts'

const roomy = { entriesMax: 100, bytesMax: 1024 * 1024 }

async function read(archive: Buffer, bounds = roomy): Promise<string[]> {
  const paths: string[] = []
  for await (const { path, target, body } of readTarEntries(inPieces(archive), bounds)) {
    for await (const _ of body);
    paths.push(target === '' ? path : `${path} -> ${target}`)
  }
  return paths
}

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 700) yield bytes.subarray(at, at + 700)
}

test('files, folders and links that stay inside are taken', async () => {
  const archive = rawTar(
    { name: './folder/', type: '5' },
    { name: 'folder//file', content: 'x'.repeat(2000) },
    { name: 'folder/link', type: '2', link: '../elsewhere' },
    { name: 'hard', type: '1', link: 'folder/file' },
  )
  const taken = ['folder', 'folder/file', 'folder/link -> ../elsewhere', 'hard -> folder/file']
  assert.deepEqual(await read(archive), taken)
})

const leadingOut: Readonly<Record<string, RawEntry>> = {
  'an absolute name': { name: '/outside' },
  'a name that climbs': { name: '../outside' },
  'a name that goes down and climbs': { name: 'a/../../outside' },
  'a folder that climbs': { name: '..', type: '5' },
  'an absolute link': { name: 'link', type: '2', link: '/etc' },
  'a link that climbs out': { name: 'a/link', type: '2', link: '../../outside' },
  'a link that goes down and up again': { name: 'link', type: '2', link: 'a/../outside' },
  'a hard link out': { name: 'hard', type: '1', link: '../outside' },
  'a device': { name: 'zero', type: '3' },
  'an unknown type': { name: 'odd', type: 'Z', content: 'x' },
}
for (const [what, entry] of Object.entries(leadingOut))
  test(`${what} is refused`, () => assert.rejects(read(rawTar(entry)), { code: 'ARCHIVE_REFUSED' }))

test('an entry through a link of the same archive is refused', () => {
  const archive = rawTar(
    { name: 'link', type: '2', link: 'elsewhere' },
    { name: 'link/inside', content: 'x' },
  )
  return assert.rejects(read(archive), { code: 'ARCHIVE_REFUSED' })
})

test('bytes and entries are counted while they arrive', async () => {
  const archive = rawTar({ name: 'a', content: 'x'.repeat(4096) }, { name: 'b' })
  const refused = { code: 'ARCHIVE_REFUSED' }
  await assert.rejects(read(archive, { ...roomy, bytesMax: archive.length - 1 }), refused)
  await assert.rejects(read(archive, { ...roomy, entriesMax: 1 }), refused)
  assert.deepEqual(await read(archive, { entriesMax: 2, bytesMax: archive.length }), ['a', 'b'])
})
