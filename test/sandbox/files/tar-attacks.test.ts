/** Hostile archives: they try to write outside, to be misread, or never to end. */
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import { paxEntry, rawEntry, rawTar, tarEnd } from './raw-tar.ts'
import type { RawEntry } from './raw-tar.ts'
import { useFiles } from './use-files.ts'

const { files, shell } = useFiles()
const target = '/workspace/unpacked'
const file: RawEntry = { name: 'first', content: 'kept' }
const many = Array.from({ length: 30 }, (_, index) => ({ name: `many/${index}`, content: '' }))
const deep = Array.from({ length: 65 }, () => 'd').join('/')

const attacks: Readonly<Record<string, Buffer>> = {
  'an absolute name': rawTar({ name: '/workspace/outside', content: 'x' }),
  'an absolute name by an extended header': rawTar(paxEntry({ path: '/workspace/outside' }), {
    name: 'inside',
    content: 'x',
  }),
  'an absolute name by a long name': rawTar(
    { name: '././@LongLink', type: 'L', content: '/workspace/outside\0' },
    { name: 'inside', content: 'x' },
  ),
  'an absolute name by a prefix': rawTar({ name: 'outside', prefix: '/workspace', content: 'x' }),
  'a name that climbs': rawTar({ name: '../outside', content: 'x' }),
  'a name that goes down and climbs': rawTar({ name: 'a/b/../../../outside', content: 'x' }),
  'a folder that climbs': rawTar({ name: '../outside/', type: '5' }),
  'a name with a NUL by an extended header': rawTar(paxEntry({ path: 'in\0side' }), { name: 'x' }),
  'a name that is not UTF-8': rawTar({ name: Buffer.from([0x61, 0xff, 0x62]), content: 'x' }),
  'a name of 256 bytes': rawTar(paxEntry({ path: 'n'.repeat(256) }), { name: 'x' }),
  'a path of more than 4095 bytes': rawTar(paxEntry({ path: 'n/'.repeat(2100) }), { name: 'x' }),
  'folders 65 deep': rawTar(paxEntry({ path: deep }), { name: 'x' }),
  'a symlink to an absolute path': rawTar({ name: 'link', type: '2', link: '/etc' }),
  'a symlink that climbs out': rawTar({ name: 'a/link', type: '2', link: '../../outside' }),
  'a symlink that climbs out by an extended header': rawTar(paxEntry({ linkpath: '../outside' }), {
    name: 'link',
    type: '2',
    link: 'inside',
  }),
  'a symlink that goes down and up again': rawTar(
    { name: 'a/b/up', type: '2', link: '../..' },
    { name: 'link', type: '2', link: 'a/b/up/../outside' },
  ),
  'a symlink to nothing': rawTar({ name: 'link', type: '2', link: '' }),
  'an entry through a symlink of an earlier entry': rawTar(
    { name: 'link', type: '2', link: 'elsewhere' },
    { name: 'link/inside', content: 'x' },
  ),
  'an entry through a symlink of an earlier entry, spelled otherwise': rawTar(
    { name: 'link', type: '2', link: 'elsewhere' },
    { name: './/link/./deeper/inside', content: 'x' },
  ),
  'an entry below a file': rawTar(file, { name: 'first/inside', content: 'x' }),
  'a symlink in place of a folder': rawTar(
    { name: 'folder/inside', content: 'x' },
    { name: 'folder', type: '2', link: 'elsewhere' },
  ),
  'a file twice': rawTar(file, { name: 'first', content: 'again' }),
  'a hard link out': rawTar({ name: 'hard', type: '1', link: '../outside' }),
  'a hard link to an absolute path': rawTar({ name: 'hard', type: '1', link: '/etc/passwd' }),
  'a hard link to what was there before': rawTar({ name: 'hard', type: '1', link: 'there' }),
  'a hard link to a symlink': rawTar(
    { name: 'link', type: '2', link: 'elsewhere' },
    { name: 'hard', type: '1', link: 'link' },
  ),
  'a hard link with content': rawTar(file, { name: 'hard', type: '1', link: 'first', content: 'x' }),
  'a folder with content': rawTar({ name: 'folder', type: '5', content: 'x' }),
  'a character device': rawTar({ name: 'zero', type: '3' }),
  'a block device': rawTar({ name: 'disk', type: '4' }),
  'a pipe': rawTar({ name: 'pipe', type: '6' }),
  'a sparse file of GNU': rawTar({ name: 'sparse', type: 'S', content: 'x' }),
  'a sparse file by extended headers': rawTar(
    paxEntry({ 'GNU.sparse.major': '1', 'GNU.sparse.realsize': '99999999' }),
    { name: 'sparse', content: 'x' },
  ),
  'a volume of several': rawTar({ name: 'part', type: 'M', content: 'x' }),
  'an unknown type': rawTar({ name: 'odd', type: 'Z', content: 'x' }),
  'a size by an extended header': rawTar(paxEntry({ size: '0' }), { name: 'lie', content: 'x' }),
  'a size that is no number': rawTar({ name: 'lie', content: 'x', size: '9999zzzzzzz\0' }),
  'a size in base 256': rawTar({ name: 'lie', size: '\x80\0\0\0\0\0\0\0\0\0\0\x01', content: 'x' }),
  'a negative size': rawTar({ name: 'lie', size: '-0000000001\0', content: 'x' }),
  'a size beyond the end': rawTar({ name: 'lie', size: 100_000, content: 'x' }),
  'a size that hides the next header': rawTar({ name: 'lie', size: 1024, content: 'x' }),
  'a wrong checksum': rawTar({ name: 'broken', content: 'x', checksum: 1 }),
  'an end in the middle of a file': rawEntry({ name: 'cut', content: 'x'.repeat(2000) }).subarray(0, 1024),
  'an end in the middle of a header': rawEntry(file).subarray(0, 300),
  'no end': rawEntry(file),
  'something after the end': Buffer.concat([rawTar(file), rawTar({ name: 'hidden', content: 'x' })]),
  'one zero block and more entries': Buffer.concat([Buffer.alloc(512), rawTar(file)]),
  'no archive at all': Buffer.from('#!/bin/sh\n'.repeat(200)),
  nothing: Buffer.alloc(0),
  'a gzip that is cut': gzipSync(rawTar(file)).subarray(0, 60),
  'a gzip with a broken checksum': breakLast(gzipSync(rawTar(file))),
  'a gzip of no archive': gzipSync('text'),
}

function breakLast(bytes: Buffer): Buffer {
  bytes[bytes.length - 6] = Number(bytes[bytes.length - 6]) ^ 0xff
  return bytes
}

describe('an archive with unsupported entries is refused, and nothing is written outside of the folder', () => {
  for (const [name, archive] of Object.entries(attacks)) {
    test(name, async () => {
      await shell(`rm -rf ${target} /workspace/outside; mkdir ${target}; printf there > ${target}/there`)
      await assert.rejects(files.uploadTar(archive, { path: target }), (error) => {
        assert.ok(error instanceof LazaretError)
        assert.equal(error.code, 'ARCHIVE_REFUSED', error.message)
        // eslint-disable-next-line no-control-regex
        assert.doesNotMatch(error.message, /[\x00-\x1f]/)
        assert.ok(error.message.length < 600)
        return true
      })
      const { entries } = await files.listFiles('/workspace', { recursive: true })
      const odd = entries.filter(({ path }) => path !== 'unpacked' && !path.startsWith('unpacked/'))
      assert.deepEqual(odd, [])
      assert.equal(await files.readFile(`${target}/there`), 'there')
    })
  }
})

describe('an archive that exceeds a bound stops there', () => {
  test('entries', async () => {
    const options = { path: target, entriesMax: 20 }
    await assert.rejects(files.uploadTar(rawTar(...many), options), { code: 'ARCHIVE_REFUSED' })
  })

  test('bytes, also if they are zeros in a small gzip', async () => {
    const bomb = gzipSync(Buffer.concat([rawTar(file), Buffer.alloc(8 * 1024 * 1024)]))
    assert.ok(bomb.length < 20_000)
    const options = { path: target, bytesMax: 1024 * 1024 }
    await assert.rejects(files.uploadTar(bomb, options), { code: 'ARCHIVE_REFUSED' })
    const headers = Buffer.concat(Array.from({ length: 300 }, () => rawEntry(paxEntry({ comment: 'x' }))))
    await assert.rejects(files.uploadTar(headers, { path: target, entriesMax: 20 }), {
      code: 'ARCHIVE_REFUSED',
    })
  })

  test('the disk of the sandbox, and the unfinished file is removed', async () => {
    await shell(`rm -rf ${target}`)
    const large = rawTar(file, { name: 'large', content: Buffer.alloc(40 * 1024 * 1024, 'x') })
    await assert.rejects(files.uploadTar(large, { path: target }), { code: 'DISK_FULL' })
    assert.deepEqual(
      (await files.listFiles(target)).entries.map(({ name }) => name),
      ['first'],
    )
  })
})

test('a failing source throws the caller’s own error, and its unfinished file is removed', async () => {
  await shell(`rm -rf ${target}`)
  const mine = new Error('the line is dead')
  async function* source(): AsyncGenerator<Uint8Array> {
    yield rawEntry(file)
    const second = rawEntry({ name: 'second', content: Buffer.alloc(4 * 1024 * 1024, 'x') })
    for (let at = 0; at < second.length / 2; at += 64 * 1024) yield second.subarray(at, at + 64 * 1024)
    throw mine
  }
  await assert.rejects(files.uploadTar(source(), { path: target }), (error) => error === mine)
  const { entries } = await files.listFiles(target)
  assert.deepEqual(
    entries.filter(({ name }) => name !== 'first'),
    [],
  )
})

test('a link that a guest has placed on the path is not followed', async () => {
  await shell(`rm -rf ${target}; mkdir ${target} /workspace/elsewhere; ln -s ../elsewhere ${target}/folder`)
  after(() => shell('rm -rf /workspace/elsewhere'))
  await assert.rejects(files.uploadTar(rawTar({ name: 'folder/inside', content: 'x' }), { path: target }), {
    code: /FILE_REFUSED|NOT_A_FOLDER/,
  })
  await shell(`ln -s ../elsewhere/file ${target}/first`)
  await files.uploadTar(rawTar(file), { path: target })
  assert.equal((await files.stat(`${target}/first`, { followLinks: false })).type, 'file')
  assert.deepEqual((await files.listFiles('elsewhere')).entries, [])
})

test('set-uid and similar bits are dropped, and a folder stays accessible to its owner', async () => {
  await shell(`rm -rf ${target}`)
  const odd = rawTar(
    { name: 'folder', type: '5', mode: 0o1000 },
    { name: 'folder/program', mode: 0o6755, content: 'x' },
  )
  assert.deepEqual(await files.uploadTar(odd, { path: target }), { entries: 2, bytes: 1 })
  assert.equal((await files.stat(`${target}/folder`)).mode, 0o700)
  assert.equal((await files.stat(`${target}/folder/program`)).mode, 0o755)
})

test('a source that is not an archive is refused before anything runs', async () => {
  const odd: unknown[] = ['text', null, undefined, 5, [rawTar(file)], { path: 'x' }]
  for (const source of odd)
    await assert.rejects(files.uploadTar(source as Uint8Array), { code: 'INVALID_REQUEST' })
  async function* numbers(): AsyncGenerator<Uint8Array> {
    yield tarEnd.subarray(0, 512)
    yield 5 as unknown as Uint8Array
  }
  await assert.rejects(files.uploadTar(numbers()), { code: 'INVALID_REQUEST' })
})
