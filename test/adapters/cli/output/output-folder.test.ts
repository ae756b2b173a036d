/** A guest's files are written only below the folder, never through a link, and never over anything but a file. */
import assert from 'node:assert/strict'
import { lstat, mkdir, readFile, readdir, readlink, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

import { OutputFolder } from '../../../../src/adapters/cli/output/output-folder.ts'
import { UsageError } from '../../../../src/adapters/cli/options/usage-error.ts'
import { createTemporaryFolder } from '../temporary-folder.ts'

const own = Buffer.from('own')

test('files are written with their folders, and a regular file is replaced', async () => {
  await using temporary = await createTemporaryFolder()
  const path = join(temporary.path, 'made', 'out')
  await using folder = await OutputFolder.open(path)
  assert.equal(await folder.write('a/b/c.txt', own), undefined)
  assert.equal(await folder.write('a/b/c.txt', Buffer.from('new')), undefined)
  assert.equal(await readFile(join(path, 'a/b/c.txt'), 'utf8'), 'new')
  assert.deepEqual(await readdir(join(path, 'a/b')), ['c.txt'])
})

test('a replaced file is a new one: other names of the old one keep the old content', async () => {
  await using temporary = await createTemporaryFolder()
  await writeFile(join(temporary.path, 'precious'), 'precious')
  execFileSync('ln', ['precious', 'file'], { cwd: temporary.path })
  await using folder = await OutputFolder.open(temporary.path)
  assert.equal(await folder.write('file', own), undefined)
  assert.equal(await readFile(join(temporary.path, 'precious'), 'utf8'), 'precious')
})

test('no file is written that lazaret itself would use, at any depth and in upper or lower case', async () => {
  await using temporary = await createTemporaryFolder()
  const protectedPaths = [join(temporary.path, 'named.json'), join(temporary.path, 'environment')]
  await using folder = await OutputFolder.open(temporary.path, protectedPaths)
  for (const path of ['lazaret.config.json', 'a/b/LAZARET.config.JSON', 'lazaret.config.json/x'])
    assert.match((await folder.write(path, own)) ?? '', /is a configuration of lazaret/, path)
  for (const path of ['named.json', 'environment', 'environment/lib/os.py'])
    assert.match((await folder.write(path, own)) ?? '', /lazaret itself uses/, path)
  for (const path of ['a/named.json', 'environments', 'named.json5'])
    assert.equal(await folder.write(path, own), undefined, path)
})

test('no path leads out of the folder', async () => {
  await using temporary = await createTemporaryFolder()
  await using folder = await OutputFolder.open(join(temporary.path, 'out'))
  for (const path of ['../x', 'a/../../x', '/x', '', '.', '..', 'a//b', 'a/./b', 'a/', 'nul\0x'])
    assert.notEqual(await folder.write(path, own), undefined, path)
  assert.deepEqual(await readdir(temporary.path), ['out'])
})

test('no existing link in the folder is followed or replaced', async () => {
  await using temporary = await createTemporaryFolder()
  const [out, outside] = [join(temporary.path, 'out'), join(temporary.path, 'outside')]
  await mkdir(out)
  await mkdir(outside)
  await writeFile(join(outside, 'file'), 'precious')
  await symlink(outside, join(out, 'folder'))
  await symlink(join(outside, 'file'), join(out, 'file'))
  await symlink(join(outside, 'new'), join(out, 'dangling'))
  await using folder = await OutputFolder.open(out)
  for (const path of ['folder/file', 'folder/new', 'folder', 'file', 'dangling'])
    assert.notEqual(await folder.write(path, own), undefined, path)
  assert.deepEqual(await readdir(outside), ['file'])
  assert.equal(await readFile(join(outside, 'file'), 'utf8'), 'precious')
  assert.equal(await readlink(join(out, 'dangling')), join(outside, 'new'))
})

test('an existing folder or pipe of that name is kept, and does not block', async () => {
  await using temporary = await createTemporaryFolder()
  await mkdir(join(temporary.path, 'folder'))
  execFileSync('mkfifo', [join(temporary.path, 'pipe')])
  await writeFile(join(temporary.path, 'file'), 'precious')
  await using folder = await OutputFolder.open(temporary.path)
  for (const path of ['folder', 'pipe', 'file/below']) {
    assert.notEqual(await folder.write(path, own), undefined, path)
  }
  assert.ok((await lstat(join(temporary.path, 'pipe'))).isFIFO())
  assert.deepEqual((await readdir(temporary.path)).toSorted(), ['file', 'folder', 'pipe'])
})

test('a name that is too long for the file system is reported, and nothing is left behind', async () => {
  await using temporary = await createTemporaryFolder()
  await using folder = await OutputFolder.open(temporary.path)
  assert.match((await folder.write('x'.repeat(300), own)) ?? '', /name too long/)
  assert.deepEqual(await readdir(temporary.path), [])
})

test('a folder that cannot be created is an error in the command line', async () => {
  await using temporary = await createTemporaryFolder()
  await writeFile(join(temporary.path, 'file'), '')
  for (const path of [join(temporary.path, 'file'), join(temporary.path, 'file', 'below')])
    await assert.rejects(OutputFolder.open(path), UsageError)
})

test('creating a folder where none can be created fails at once', async () => {
  for (const path of ['/proc/nope', '/proc/nope/deeper', '', '/dev/null/below', '/dev/null'])
    await assert.rejects(
      OutputFolder.open(path),
      (error) => error instanceof UsageError && error.message.startsWith(`--output-dir ${path}: `),
      path,
    )
})

test('parent folders are resolved like the kernel does, through links, too', async () => {
  await using temporary = await createTemporaryFolder()
  await mkdir(join(temporary.path, 'far/away'), { recursive: true })
  await symlink('far/away', join(temporary.path, 'link'))
  await using folder = await OutputFolder.open(`${temporary.path}/link/../made/out/`)
  assert.equal(await folder.write('own', own), undefined)
  assert.deepEqual(await readdir(join(temporary.path, 'far')), ['away', 'made'])
  assert.deepEqual(await readdir(join(temporary.path, 'far/made/out')), ['own'])
})
