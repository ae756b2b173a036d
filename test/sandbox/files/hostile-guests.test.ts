/** Guests that choose misleading names, and put other things where files are expected. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import { findPythonWith } from '../../support/machine/find-python.ts'
import { useFiles } from './use-files.ts'

const { files, shell } = useFiles()
const python = '/usr/bin/python3'
const noPython = findPythonWith(['os'])?.path === undefined ? 'there is no Python' : false
beforeEach(() => shell('chmod -R u+rwx . ; rm -rf ./* ./.[!.]* ./-* /tmp/*'))

const names = [
  ' ',
  'two words',
  ' around ',
  `it's "quoted"`,
  '$(touch owned)',
  '`touch owned`',
  '; touch owned #',
  '-rf',
  '--help',
  '-',
  '~',
  '*',
  '?[a-z]',
  'back\\slash',
  'new\nline',
  'return\rtab\tbell\u0007',
  '\u001b]0;title\u0007',
  '\u202egnp.exe',
  'é combining e\u0301',
  '日本語',
  '👩‍👩‍👧‍👦',
  '...',
  '.hidden',
  '%s%n',
  '\u007f',
  'n'.repeat(255),
  'é'.repeat(127),
]

describe('a name is a name', () => {
  for (const name of names) {
    test(JSON.stringify(name.slice(0, 40)), async () => {
      await files.writeFile(`folder/${name}/${name}`, name, { createParents: true })
      await files.writeFile(name, 'in the workspace itself')
      await files.deleteFile(name)
      const { entries } = await files.listFiles('folder', { recursive: true })
      assert.deepEqual(
        entries.map((entry) => [entry.path, entry.name]),
        [
          [name, name],
          [`${name}/${name}`, name],
        ],
      )
      assert.equal(await files.readFile(`folder/${name}/${name}`), name)
      await files.renameFile(`folder/${name}/${name}`, name)
      await files.moveFile(name, `/tmp/${name}`)
      assert.equal((await files.stat(`/tmp/${name}`)).name, name)
      const chunks: Uint8Array[] = []
      for await (const chunk of files.downloadTar({ path: '/tmp' })) chunks.push(chunk)
      await files.uploadTar(Buffer.concat(chunks), { path: name })
      assert.equal(await files.readFile(`${name}/${name}`), name)
      await files.deleteFile(name, { recursive: true })
      await files.deleteFile('folder', { recursive: true })
      assert.deepEqual((await files.listFiles()).entries, [])
    })
  }

  test('a name that is too long is refused', async () => {
    await assert.rejects(files.writeFile('n'.repeat(256), ''), { code: 'FILE_REFUSED' })
  })

  test('one that is not UTF-8 is listed as such, and goes with its folder', async () => {
    await shell(`mkdir folder; : > "folder/$(printf 'a\\377b')"; : > "folder/$(printf 'a\\376b')"`)
    const { entries } = await files.listFiles('folder')
    assert.deepEqual(
      entries.map(({ name, isNameable }) => [name, isNameable]),
      [
        ['a\uFFFDb', false],
        ['a\uFFFDb', false],
      ],
    )
    await files.deleteFile('folder', { recursive: true })
  })

  test('a message shows it on one line, bounded, and harmless', async () => {
    const odd = `\u001b]0;title\u0007\u202e\n\u2028${'x'.repeat(1000)}`
    await assert.rejects(files.readFile(`${odd.slice(0, 200)}`), (error) => {
      assert.ok(error instanceof LazaretError)
      assert.match(error.message, /"\\u001b\]0;title\\u0007\\u\{202e\}\\n\\u\{2028\}x+/)
      assert.doesNotMatch(error.message, /[\p{C}\p{Zl}]/u)
      return true
    })
    await assert.rejects(files.readFile(`${odd}/y`), (error) => (error as Error).message.length < 600)
  })
})

describe('no operation blocks on something that is not a file', () => {
  const make = `
mkfifo fifo read
ln -s fifo link
ln -s /dev/zero zero
ln -s /dev/tty tty
ln -s /dev/ptmx terminal
mkdir folder
(sleep 30 < read & sleep 30 > read &) 2> /dev/null`
  const odd = ['fifo', 'read', 'link', 'zero', 'tty', 'terminal', 'folder', '/dev/null', '/dev/random', '.']

  test('pipes, devices, terminals and folders are neither read nor written', async () => {
    await shell(make)
    for (const path of odd) {
      await assert.rejects(files.readFile(path), { code: /NOT_A_FILE|FILE_REFUSED/ }, path)
      await assert.rejects(files.writeFile(path, 'x'), { code: /NOT_A_FILE|FILE_REFUSED/ }, path)
      await assert.rejects(
        async () => {
          for await (const _ of files.readFileStream(path));
        },
        { code: /NOT_A_FILE|FILE_REFUSED/ },
        path,
      )
      await files.stat(path)
    }
    assert.equal((await files.stat('link')).type, 'fifo')
    assert.equal((await files.stat('zero')).type, 'character-device')
    for (const path of ['fifo', 'read', 'link', 'zero', 'tty', 'terminal']) await files.deleteFile(path)
  })

  test('sockets', { skip: noPython }, async () => {
    await shell(`${python} -c "import socket; socket.socket(socket.AF_UNIX).bind('socket')"`)
    assert.equal((await files.stat('socket')).type, 'socket')
    await assert.rejects(files.readFile('socket'), { code: 'NOT_A_FILE' })
    await assert.rejects(files.writeFile('socket', 'x'), { code: 'NOT_A_FILE' })
    await files.deleteFile('socket')
  })
})

describe('links lead to the same targets as for a guest', () => {
  test('absolute ones, climbing ones and those of the kernel stay inside', async () => {
    await shell(`ln -s /etc/passwd absolute; ln -s ../../../../../../etc/passwd climbing
      ln -s /proc/1/root/etc/shadow root; ln -s /proc/self/root/etc/hostname self; ln -s /etc folder`)
    const own = await shell('cat /etc/passwd')
    for (const path of ['absolute', 'climbing', 'folder/passwd', '/etc/passwd'])
      assert.equal(await files.readFile(path), own)
    await assert.rejects(files.readFile('root'), { name: 'LazaretError' })
    for (const path of ['absolute', 'folder/new', 'climbing'])
      await assert.rejects(files.writeFile(path, 'x'), { code: 'FILE_REFUSED' })
    const { entries } = await files.listFiles('.', { recursive: true })
    assert.equal(entries.length, 5)
  })
})

describe('trees deeper than 64 folders', { skip: noPython }, () => {
  const dig = (depth: number, name: string) => `${python} -c '
import os
os.mkdir("tree"); os.chdir("tree")
for _ in range(${depth}): os.mkdir("${name}"); os.chdir("${name}")
open("bottom", "w")'`

  test('cause a clear error, at any depth', async () => {
    await shell(dig(2000, 'd'))
    for (const operation of [
      () => files.listFiles('.', { recursive: true }),
      () => files.deleteFile('tree', { recursive: true }),
      async () => {
        for await (const _ of files.downloadTar());
      },
    ]) {
      await assert.rejects(operation, { code: 'FILE_REFUSED', message: /64 folders deep/ })
    }
    await shell('rm -rf tree')
  })

  test('up to that depth they are listed, downloaded and deleted', async () => {
    await shell(dig(62, 'd'))
    assert.equal((await files.listFiles('.', { recursive: true })).entries.length, 64)
    for await (const _ of files.downloadTar());
    await files.deleteFile('tree', { recursive: true })
    assert.deepEqual((await files.listFiles()).entries, [])
  })

  test('with names of 255 bytes, longer than any path may be', async () => {
    await shell(dig(60, 'n'.repeat(255)))
    const { entries } = await files.listFiles('.', { recursive: true })
    assert.equal(entries.length, 62)
    assert.equal(entries.at(-1)?.path.length, 'tree/bottom'.length + 60 * 256)
    for await (const _ of files.downloadTar());
    await files.deleteFile('tree', { recursive: true })
  })
})
