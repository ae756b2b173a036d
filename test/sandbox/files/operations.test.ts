/** The effect of each operation, and the error for each mistake. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import type { ErrorCode } from '../../../src/core/errors/errors.ts'
import { diskBytes, useFiles } from './use-files.ts'

const { files, shell } = useFiles()
beforeEach(() => shell('chmod -R u+rwx . ; rm -rf ./* ./.[!.]* /tmp/*'))

const refuses = (promise: Promise<unknown>, code: ErrorCode) => assert.rejects(promise, { code })

describe('writing and reading', () => {
  test('text and bytes are read back unchanged, in each encoding', async () => {
    await files.writeFile('text', 'zwölf\0 🙂\r\n')
    assert.equal(await files.readFile('text'), 'zwölf\0 🙂\r\n')
    const every = Uint8Array.from({ length: 256 }, (_, index) => index)
    await files.writeFile('/workspace/bytes', every)
    assert.deepEqual(await files.readFile('bytes', { encoding: 'bytes' }), every)
    assert.equal(await files.readFile('bytes', { encoding: 'base64' }), Buffer.from(every).toString('base64'))
    assert.equal(await shell('wc -c < bytes'), '256\n')
  })

  test('a write replaces the content, keeps the mode and other hard links, and follows a symlink', async () => {
    await shell('printf longer > file; chmod 711 file; ln file other; ln -s file link')
    await files.writeFile('link', 'new')
    assert.equal(await files.readFile('other'), 'new')
    assert.equal((await files.stat('file')).mode, 0o711)
    await files.writeFile('made', '')
    assert.equal((await files.stat('made')).mode, 0o644)
  })

  test('missing parent folders are created only on request', async () => {
    await assert.rejects(files.writeFile('a/b/c', 'x'), {
      code: 'FILE_NOT_FOUND',
      hint: 'Create its folder first, or write with `createParents: true`.',
    })
    await files.writeFile('a/b/c', 'x', { createParents: true })
    await files.writeFile('a/b/c', 'y', { createParents: true })
    assert.equal(await files.readFile('./a//b/../b/c'), 'y')
    await refuses(files.writeFile('a/b/c/d', 'x', { createParents: true }), 'NOT_A_FOLDER')
  })

  test('16 MiB are written and read back, whole and as a stream', async () => {
    const large = Buffer.alloc(16 * 1024 * 1024 - 7, 'lazaret')
    await files.writeFile('large', large)
    assert.equal(Buffer.compare(large, await files.readFile('large', { encoding: 'bytes' })), 0)
    const pieces: Uint8Array[] = []
    for await (const piece of files.readFileStream('large')) pieces.push(piece)
    assert.equal(Buffer.compare(large, Buffer.concat(pieces)), 0)
    for (let turn = 0; turn < 6; turn++) for await (const _ of files.readFileStream('large')) break
  })

  test('a file above the requested size is refused, never cut', async () => {
    await files.writeFile('file', 'x'.repeat(100))
    assert.equal((await files.readFile('file', { bytesMax: 100 })).length, 100)
    await refuses(files.readFile('file', { bytesMax: 99 }), 'FILE_TOO_LARGE')
    // The kernel's files have no known length before they are read.
    await refuses(files.readFile('/proc/self/status', { bytesMax: 10 }), 'FILE_TOO_LARGE')
  })

  test('a full disk is reported, also for a single file that is larger than the disk', async () => {
    await refuses(files.writeFile('large', Buffer.alloc(diskBytes + 1)), 'DISK_FULL')
    await files.deleteFile('large')
    await files.writeFile('first', Buffer.alloc((diskBytes * 3) / 4))
    await refuses(files.writeFile('second', Buffer.alloc(diskBytes / 2)), 'DISK_FULL')
  })

  test('many operations at once are queued', async () => {
    const names = Array.from({ length: 200 }, (_, index) => `f${index}`)
    await Promise.all(names.map((name) => files.writeFile(name, name)))
    assert.deepEqual(await Promise.all(names.map((name) => files.readFile(name))), names)
  })
})

describe('folders', () => {
  test('are created, with missing parents on request', async () => {
    await files.mkdir('a')
    await refuses(files.mkdir('a'), 'FILE_EXISTS')
    await files.mkdir('a', { recursive: true })
    await assert.rejects(files.mkdir('b/c'), { code: 'FILE_NOT_FOUND', hint: /`recursive: true`/ })
    await files.mkdir('/workspace/b/c/', { recursive: true })
    await files.writeFile('file', '')
    await refuses(files.mkdir('file', { recursive: true }), 'FILE_EXISTS')
    await refuses(files.mkdir('file/x', { recursive: true }), 'NOT_A_FOLDER')
    await refuses(files.mkdir('/usr/x', { recursive: true }), 'FILE_REFUSED')
  })

  test('are listed in order, whole trees on request', async () => {
    await shell('mkdir -p b/c; printf 123 > b/c/d; ln -s b a; : > .hidden')
    const { entries, isComplete } = await files.listFiles()
    assert.deepEqual(
      entries.map(({ name, type }) => [name, type]),
      [
        ['.hidden', 'file'],
        ['a', 'symlink'],
        ['b', 'folder'],
      ],
    )
    assert.ok(isComplete)
    const all = await files.listFiles('/workspace', { recursive: true })
    assert.deepEqual(
      all.entries.map(({ path }) => path),
      ['.hidden', 'a', 'b', 'b/c', 'b/c/d'],
    )
    assert.deepEqual(
      (await files.listFiles('a', { recursive: true })).entries.map(({ path }) => path),
      ['c', 'c/d'],
    )
    const { bytes, name, target } = { target: '', ...all.entries[4], ...all.entries[1] } as Record<
      string,
      unknown
    >
    assert.deepEqual({ bytes, name, target }, { bytes: 1, name: 'a', target: 'b' })
  })

  test('report that there are more entries than requested, or unreadable parts', async () => {
    await shell('for n in 1 2 3 4 5; do : > $n; done')
    const { entries, isComplete } = await files.listFiles('.', { entriesMax: 4 })
    assert.deepEqual([entries.length, isComplete], [4, false])
    assert.equal((await files.listFiles('.', { entriesMax: 5 })).isComplete, true)
    await shell('mkdir -p closed/x; chmod 000 closed')
    const closed = await files.listFiles('.', { recursive: true })
    assert.deepEqual([closed.entries.length, closed.isComplete], [6, false])
    await shell('chmod 444 closed')
    const named = await files.listFiles('.', { recursive: true })
    assert.deepEqual([named.entries.length, named.isComplete], [6, false])
    await shell('chmod 000 closed')
    await refuses(files.listFiles('closed'), 'FILE_REFUSED')
    await refuses(files.listFiles('1'), 'NOT_A_FOLDER')
    await refuses(files.listFiles('none'), 'FILE_NOT_FOUND')
  })

  test('other file systems are listed and not entered', async () => {
    const { entries, isComplete } = await files.listFiles('/', { recursive: true, entriesMax: 100_000 })
    assert.ok(entries.some(({ path }) => path === 'proc'))
    assert.ok(!entries.some(({ path }) => path.startsWith('proc/')))
    assert.ok(isComplete)
  })
})

describe('deleting', () => {
  test('a file, a link without its target, and a folder only on request', async () => {
    await shell('mkdir -p folder/in; : > folder/in/file; : > file; ln -s folder link; ln -s nowhere dangling')
    await files.deleteFile('file')
    await files.deleteFile('dangling')
    await assert.rejects(files.deleteFile('folder'), {
      code: 'NOT_A_FILE',
      hint: /^It is a folder\..*`recursive: true`/,
    })
    await files.deleteFile('link/', { recursive: true })
    assert.deepEqual(
      (await files.listFiles()).entries.map(({ name }) => name),
      ['folder'],
    )
    assert.ok(await files.exists('folder/in/file'))
    await files.deleteFile('folder/', { recursive: true })
    assert.deepEqual((await files.listFiles()).entries, [])
    await refuses(files.deleteFile('folder'), 'FILE_NOT_FOUND')
  })

  test('folders that cannot be deleted, whose contents then stay, too', async () => {
    await files.writeFile('file', '')
    for (const path of ['/workspace', '.', '/workspace/', '/tmp', '/', '/proc', '/usr/bin', 'sub/..'])
      await assert.rejects(files.deleteFile(path, { recursive: true }), { name: 'LazaretError' }, path)
    assert.ok(await files.exists('file'))
  })

  test('3,000 files in folders', async () => {
    await shell(
      'for d in 0 1 2 3 4 5 6 7 8 9; do mkdir -p t/$d/x; (cd t/$d/x; seq 1 300 | xargs touch); done',
    )
    assert.equal((await files.listFiles('t', { recursive: true })).entries.length, 3020)
    await files.deleteFile('t', { recursive: true })
    assert.equal(await files.exists('t'), false)
  })
})

describe('stat, list and exists', () => {
  test('follow links, or not', async () => {
    await shell('printf 1234 > file; chmod 4751 file; ln -s file link; ln -s loop loop; ln -s gone dangling')
    const { name, path, type, bytes, mode, isNameable } = await files.stat('/workspace/link')
    assert.deepEqual(
      { name, path, type, bytes, mode, isNameable },
      { name: 'link', path: '/workspace/link', type: 'file', bytes: 4, mode: 0o4751, isNameable: true },
    )
    const link = await files.stat('link', { followLinks: false })
    assert.deepEqual([link.type, link.target], ['symlink', 'file'])
    assert.equal((await files.stat('/workspace')).type, 'folder')
    assert.deepEqual(
      await Promise.all(
        ['file', 'link', 'dangling', 'none', 'file/x', '/etc'].map((one) => files.exists(one)),
      ),
      [true, true, false, false, false, true],
    )
    await refuses(files.stat('loop'), 'FILE_REFUSED')
    assert.ok(Math.abs((await files.stat('file')).modifiedMs - Date.now()) < 3_600_000)
  })
})

describe('renaming and moving', () => {
  test('replaces a file, and moves folders', async () => {
    await shell('printf 1 > one; printf 2 > two; mkdir -p folder/in full/x')
    await files.renameFile('one', 'two')
    assert.equal(await files.readFile('two'), '1')
    await files.moveFile('folder', 'full/moved')
    assert.ok(await files.exists('full/moved/in'))
    await refuses(files.renameFile('two', 'full'), 'NOT_A_FILE')
    await refuses(files.renameFile('none', 'x'), 'FILE_NOT_FOUND')
    await refuses(files.renameFile('full/x', 'full'), 'FOLDER_NOT_EMPTY')
    await refuses(files.renameFile('full', 'full/x/y'), 'FILE_REFUSED')
    await refuses(files.renameFile('two', '/etc/passwd'), 'FILE_REFUSED')
  })

  test('works across file systems only as a move of regular files', async () => {
    await shell(
      "printf 12 > file; chmod 741 file; touch -d '2001-02-03Z' file; mkdir folder; ln -s file link; mkfifo pipe",
    )
    await refuses(files.renameFile('file', '/tmp/file'), 'FILE_REFUSED')
    await shell('printf other > /tmp/file; ln /tmp/file /tmp/name')
    await files.moveFile('file', '/tmp/file')
    const { mode, modifiedMs } = await files.stat('/tmp/file')
    assert.deepEqual([mode, modifiedMs], [0o741, Date.UTC(2001, 1, 3)])
    assert.equal(await files.readFile('/tmp/file'), '12')
    assert.equal(await files.readFile('/tmp/name'), 'other')
    assert.equal(await files.exists('file'), false)
    await refuses(files.moveFile('folder', '/tmp/folder'), 'NOT_A_FILE')
    await refuses(files.moveFile('pipe', '/tmp/pipe'), 'NOT_A_FILE')
    await assert.rejects(files.moveFile('link', '/tmp/link'), LazaretError)
    await refuses(files.moveFile('/tmp/name', 'folder'), 'NOT_A_FILE')
    await refuses(files.moveFile('/tmp/name', 'none/file'), 'FILE_NOT_FOUND')
    assert.equal(await files.readFile('/tmp/name'), 'other')
    await shell('chmod 711 .; head -c 20000000 /dev/zero > /tmp/large; head -c 20000000 /dev/zero > large')
  })
})

test('a value of the wrong type is refused before anything is started', async () => {
  const paths: unknown[] = [
    '',
    'a\0b',
    5,
    null,
    undefined,
    {},
    ['a'],
    Buffer.from('a'),
    'x'.repeat(4096),
    '\ud800',
  ]
  const odd = files as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
  for (const path of paths) {
    for (const name of ['readFile', 'mkdir', 'stat', 'exists', 'deleteFile'])
      await assert.rejects(async () => odd[name]?.(path), { code: 'INVALID_REQUEST' }, name)
    assert.throws(() => files.readFileStream(path as string), { code: 'INVALID_REQUEST' })
    await refuses(files.writeFile(path as string, 'x'), 'INVALID_REQUEST')
    for (const name of ['renameFile', 'moveFile']) {
      await assert.rejects(async () => odd[name]?.('a', path), { code: 'INVALID_REQUEST' }, name)
      await assert.rejects(async () => odd[name]?.(path, 'a'), { code: 'INVALID_REQUEST' }, name)
    }
    if (path === undefined) continue // the workspace
    await refuses(files.listFiles(path as string), 'INVALID_REQUEST')
    await refuses(files.uploadTar(Buffer.alloc(0), { path: path as string }), 'INVALID_REQUEST')
    assert.throws(() => files.downloadTar({ path: path as string }), { code: 'INVALID_REQUEST' })
  }
  const anything = (value: unknown) => value as never
  for (const encoding of ['latin1', '', 5, null])
    await refuses(files.readFile('a', { encoding: anything(encoding) }), 'INVALID_REQUEST')
  for (const bytesMax of [-1, 0.5, NaN, '5', Infinity])
    await refuses(files.readFile('a', { bytesMax: anything(bytesMax) }), 'INVALID_REQUEST')
  for (const content of [undefined, null, 5, ['a'], new ArrayBuffer(1)])
    await refuses(files.writeFile('a', anything(content)), 'INVALID_REQUEST')
  await refuses(files.writeFile('a', 'x', anything(null)), 'INVALID_REQUEST')
  await refuses(files.writeFile('a', 'x', { createParents: anything('yes') }), 'INVALID_REQUEST')
  await refuses(files.listFiles('.', { recursive: anything(1) }), 'INVALID_REQUEST')
  assert.deepEqual((await files.listFiles()).entries, [])
})
