/** Whole folders as tars, in both directions. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'

import type { DownloadTarOptions, SkippedFile } from '../../../src/sandbox/files/tar/download-tar.ts'
import { paxEntry, rawTar } from './raw-tar.ts'
import { useFiles } from './use-files.ts'

const { files, shell } = useFiles()

async function download(options: DownloadTarOptions = {}): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of files.downloadTar(options)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** GNU tar, to pack a folder and to unpack an archive. */
function hostTar(...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync('tar', args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  return stdout
}

const tree = `
mkdir -p tree/deep/er tree/empty
printf text > tree/deep/er/file
printf '#!/bin/sh' > tree/program; chmod 755 tree/program
: > tree/nothing
head -c 3000000 /dev/zero | tr '\\0' x > tree/large
ln -s deep/er/file tree/link
ln -s ../program tree/deep/up
ln tree/program tree/hard
printf named > "tree/$(printf 'new\\nline "quoted" $(id) -x é')"`

describe('a folder', () => {
  test('is downloaded as a tar that GNU tar unpacks to the same files', async (t) => {
    await shell(tree)
    const folder = mkdtempSync(join(tmpdir(), 'tar-test-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'archive.tar'), await download({ path: 'tree' }))
    mkdirSync(join(folder, 'out'))
    hostTar('-C', join(folder, 'out'), '-xf', join(folder, 'archive.tar'))
    const read = (name: string) => readFileSync(join(folder, 'out', name), 'utf8')
    assert.equal(read('deep/er/file'), 'text')
    assert.equal(read('nothing'), '')
    assert.equal(read('large'), 'x'.repeat(3_000_000))
    assert.equal(read('hard'), '#!/bin/sh')
    assert.equal(readlinkSync(join(folder, 'out/link')), 'deep/er/file')
    assert.equal(readlinkSync(join(folder, 'out/deep/up')), '../program')
    assert.equal(read('new\nline "quoted" $(id) -x é'), 'named')
    assert.match(hostTar('-tvf', join(folder, 'archive.tar')), /^-rwxr-xr-x .* program$/m)
  })

  for (const format of ['gnu', 'posix', 'ustar', 'v7']) {
    test(`can be uploaded as GNU tar writes it, in the format ${format}`, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'tar-test-'))
      t.after(() => rmSync(folder, { recursive: true }))
      const long = format === 'v7' ? 'short' : 'long'.repeat(24)
      const longer = format === 'v7' || format === 'ustar' ? long : 'longer'.repeat(40)
      mkdirSync(join(folder, 'in/folder', long), { recursive: true })
      writeFileSync(join(folder, 'in/folder', long, longer), 'found')
      writeFileSync(join(folder, 'in/program'), 'x'.repeat(100_000), { mode: 0o755 })
      symlinkSync(`folder/${long}/${longer}`.slice(0, 99), join(folder, 'in/link'))
      const archive = join(folder, 'archive.tar')
      hostTar(`--format=${format}`, '-C', join(folder, 'in'), '-cf', archive, '.')
      await shell('rm -rf taken')
      const { bytes } = await files.uploadTar(readFileSync(archive), { path: 'taken' })
      assert.equal(bytes, 100_005)
      assert.equal(await files.readFile(`taken/folder/${long}/${longer}`), 'found')
      assert.equal((await files.stat('taken/program')).mode, 0o755)
      assert.equal((await files.stat('taken/link', { followLinks: false })).type, 'symlink')
    })
  }

  test('is the same after upload and download, also in gzip and in pieces of any length', async () => {
    await shell(`rm -rf tree; ${tree}`)
    const archive = await download({ path: 'tree' })
    const pieces = (bytes: Uint8Array, length: number) =>
      new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += length)
            controller.enqueue(bytes.subarray(at, at + length))
          controller.close()
        },
      })
    const sources = [archive, gzipSync(archive), pieces(archive, 1021), pieces(gzipSync(archive), 1)]
    for (const source of sources) {
      await shell('rm -rf again')
      await files.uploadTar(source, { path: 'again/deeper' })
      assert.equal(await shell('diff -r tree again/deeper && echo same'), 'same\n')
      assert.equal((await download({ path: 'again/deeper' })).length, archive.length)
    }
  })

  test('keeps the modification time', async () => {
    await shell("rm -rf tree; mkdir tree; touch -d '2001-02-03 04:05:06Z' tree/old")
    await files.uploadTar(await download({ path: 'tree' }), { path: 'again' })
    assert.equal((await files.stat('again/old')).modifiedMs, Date.UTC(2001, 1, 3, 4, 5, 6))
  })
})

test('a time that an archive cannot represent becomes the closest one', async () => {
  await shell(`rm -rf *; mkdir times; touch -d @-5 times/before; touch -d @${8 ** 11} times/late
    touch -d @9223372036854775 times/later; touch -d @9223372036854775807 times/last`)
  const last = await files.stat('times/last')
  assert.ok(last.modifiedMs > 9e18)
  await files.uploadTar(await download({ path: 'times' }), { path: 'again' })
  const { entries } = await files.listFiles('again')
  assert.deepEqual(
    entries.map(({ name, modifiedMs }) => [name, modifiedMs / 1000]),
    [
      ['before', 0],
      ['last', 8 ** 11 - 1],
      ['late', 8 ** 11 - 1],
      ['later', 8 ** 11 - 1],
    ],
  )
})

test('files that an archive cannot contain are left out, and reported with the reason', async () => {
  await shell(`rm -rf odd; mkdir -p odd/folder odd/closed; cd odd; mkfifo pipe; printf x > file; ln -s /etc/passwd absolute
    ln -s ../outside climbs; ln -s folder/../../x winding; ln -s folder inside
    printf x > "$(printf 'not\\377utf8')"; printf x > secret; chmod 000 secret closed
    mkdir named; : > named/x; chmod 444 named`)
  const skipped: SkippedFile[] = []
  const archive = await download({ path: 'odd', onSkipped: (one) => skipped.push(one) })
  await shell('chmod 755 odd/closed odd/named')
  assert.deepEqual(Object.fromEntries(skipped.map(({ path, reason }) => [path, reason])), {
    pipe: 'it is a fifo',
    absolute: 'it leads out of the folder',
    climbs: 'it leads out of the folder',
    winding: 'it goes down and up again',
    'not\uFFFDutf8': 'its name is not UTF-8',
    secret: 'unreadable',
    closed: 'unreadable',
    'named/x': 'unreadable',
  })
  await files.uploadTar(archive, { path: 'even' })
  const { entries } = await files.listFiles('even', { recursive: true })
  assert.deepEqual(
    entries.map(({ path }) => path),
    ['closed', 'file', 'folder', 'inside', 'named'],
  )
})

test('a download ends at its bounds, where the caller stops, and where there is no folder', async () => {
  await shell('rm -rf *; for n in 1 2 3 4 5 6 7 8 9; do head -c 100000 /dev/zero > f$n; done')
  await assert.rejects(download({ bytesMax: 500_000 }), { code: 'FILE_TOO_LARGE' })
  await assert.rejects(download({ entriesMax: 8 }), { code: 'FILE_TOO_LARGE' })
  assert.ok((await download({ entriesMax: 9 })).length > 900_000)
  await assert.rejects(download({ path: 'nowhere' }), { code: 'FILE_NOT_FOUND' })
  await assert.rejects(download({ path: 'f1' }), { code: 'NOT_A_FOLDER' })
  for (let turn = 0; turn < 8; turn++) {
    for await (const chunk of files.downloadTar()) {
      assert.ok(chunk.length > 0)
      break
    }
  }
  const skipping = download({
    onSkipped() {
      throw new Error('mine')
    },
  })
  await skipping
  await shell('mkfifo pipe')
  await assert.rejects(
    download({
      onSkipped() {
        throw new Error('mine')
      },
    }),
    /mine/,
  )
})

test('owners and extended attributes are ignored', async () => {
  await shell('rm -rf *')
  const archive = rawTar(
    paxEntry({ comment: 'made by a tool' }, 'g'),
    paxEntry({ 'SCHILY.xattr.user.x': 'y', mtime: '1700000000.5', uid: '0', uname: 'root' }),
    { name: 'file', content: 'x' },
  )
  await files.uploadTar(archive)
  assert.equal((await files.stat('file')).modifiedMs, 1_700_000_000_500)
  assert.equal(await shell('stat -c %U file'), await shell('id -un'))
})
