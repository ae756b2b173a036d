/** Folders of the host into a sandbox and back: links that guests have placed are never followed, and nothing escapes. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { useFiles } from './use-files.ts'

const { files, shell } = useFiles()
const root = mkdtempSync(join(tmpdir(), 'lazaret-folders-'))
after(() => rmSync(root, { recursive: true, force: true }))

function makeFolder(name: string, contents: Readonly<Record<string, string>>): string {
  const folder = join(root, name)
  mkdirSync(folder)
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const listHost = (folder: string) => readdirSync(folder, { recursive: true }).map(String).toSorted()

test('a folder is uploaded and downloaded, without ignored files', async () => {
  const from = makeFolder('project', {
    'src/main.ts': 'main',
    'src/deep/er/x.txt': 'x'.repeat(200_000),
    'bin/run': '#!/bin/sh\n',
    'node_modules/a/index.js': 'no',
    'src/node_modules/b.js': 'no',
    'late.log': 'no',
    'src/deep/late.log': 'no',
    'build/out.js': 'out',
    'build/out.map': 'no',
    'src/build/out.map': 'kept',
    empty: '',
  })
  chmodSync(join(from, 'bin/run'), 0o755)
  mkdirSync(join(from, 'nothing'))
  symlinkSync('main.ts', join(from, 'src/inside'))
  symlinkSync('/etc/passwd', join(from, 'outside'))
  symlinkSync('..', join(from, 'src/up'))
  execFileSync('mkfifo', [join(from, 'pipe')])
  const ignore = ['node_modules', '*.log', 'build/*.map']
  const seen: string[] = []
  const uploaded = await files.uploadFolder(from, {
    path: 'copy',
    ignore,
    onProgress: ({ path, entries }) => seen.push(`${entries} ${path}`),
  })
  const listing = await shell('cd copy; find . ! -name . | cut -c3-')
  const expected = [
    ...[
      'bin',
      'bin/run',
      'build',
      'build/out.js',
      'empty',
      'nothing',
      'src',
      'src/build',
      'src/build/out.map',
    ],
    ...['src/deep', 'src/deep/er', 'src/deep/er/x.txt', 'src/main.ts'],
  ]
  const links = ['src/inside', 'src/up']
  assert.deepEqual(listing.trim().split('\n').toSorted(), [...expected, ...links].toSorted())
  assert.equal(await shell('cd copy; test -x bin/run && readlink src/inside'), 'main.ts\n')
  assert.deepEqual(uploaded.skipped.map(({ path }) => path).toSorted(), ['outside', 'pipe'])
  const entries = expected.length + links.length
  assert.deepEqual(
    [uploaded.entries, seen.length, Number.parseInt(seen.at(-1) ?? '')],
    [entries, entries, entries],
  )

  await shell(
    'cd copy; touch later.log; chmod 4777 bin/run; ln -s /etc/passwd stolen; ln -s src folder; mkfifo p',
  )
  const to = join(root, 'new/place')
  const downloaded = await files.downloadFolder(to, { path: 'copy', ignore: ['*.log'] })
  assert.deepEqual(listHost(to), expected)
  assert.equal(readFileSync(join(to, 'src/deep/er/x.txt'), 'utf8').length, 200_000)
  assert.deepEqual(
    [statSync(join(to, 'bin/run')).mode & 0o7777, statSync(join(to, 'empty')).mode & 0o7777],
    [0o755, 0o644],
  )
  assert.deepEqual(downloaded.skipped.map(({ path }) => path).toSorted(), [
    ...['folder', 'p', 'src/inside', 'src/up', 'stolen'],
  ])
  assert.equal(downloaded.bytes, uploaded.bytes)
})

test('nothing is written through a link of the target, nor over anything but a file', async () => {
  await shell(
    'mkdir -p back/out back/dir; echo guest | tee back/out/file back/linked back/dir/file back/taken > back/plain',
  )
  const outside = makeFolder('outside', { victim: 'untouched' })
  const to = makeFolder('target', { plain: 'old', dir: 'a file' })
  symlinkSync(outside, join(to, 'out'))
  symlinkSync(join(outside, 'victim'), join(to, 'linked'))
  mkdirSync(join(to, 'taken'))
  const { skipped } = await files.downloadFolder(to, { path: 'back' })
  assert.deepEqual(skipped.map(({ path }) => path).toSorted(), [
    'dir',
    'dir/file',
    'linked',
    'out',
    'out/file',
    'taken',
  ])
  assert.deepEqual(listHost(outside), ['victim'])
  assert.equal(readFileSync(join(outside, 'victim'), 'utf8'), 'untouched')
  assert.ok(lstatSync(join(to, 'linked')).isSymbolicLink())
  assert.deepEqual(
    [readFileSync(join(to, 'plain'), 'utf8'), readFileSync(join(to, 'dir'), 'utf8')],
    ['guest\n', 'a file'],
  )
  assert.deepEqual(readdirSync(to).toSorted(), ['dir', 'linked', 'out', 'plain', 'taken'])
})

test('bounds apply in both directions, and unfinished files are removed', async () => {
  const from = makeFolder('large', { a: 'x'.repeat(1000), b: 'y'.repeat(1000) })
  await assert.rejects(files.uploadFolder(from, { bytesMax: 1500, path: 'bounded' }), {
    code: 'INPUT_TOO_LARGE',
    message: /from/,
  })
  await assert.rejects(files.uploadFolder(from, { entriesMax: 1, path: 'bounded' }), {
    code: 'INPUT_TOO_LARGE',
    message: /from/,
  })
  await shell('mkdir -p many; for i in 1 2 3; do head -c 1000 /dev/zero > many/$i; done')
  const to = join(root, 'bounded')
  await assert.rejects(files.downloadFolder(to, { path: 'many', bytesMax: 1500 }), { code: 'FILE_TOO_LARGE' })
  await assert.rejects(files.downloadFolder(to, { path: 'many', entriesMax: 2 }), { code: 'FILE_TOO_LARGE' })
  const enough = new Error('enough')
  const onProgress = () => {
    throw enough
  }
  await assert.rejects(files.downloadFolder(to, { path: 'many', onProgress }), enough)
  await assert.rejects(files.uploadFolder(from, { path: 'many', onProgress }), enough)
  assert.deepEqual(
    listHost(to).filter((name) => name.startsWith('.')),
    [],
  )
})

test('wrong options are refused by name, before anything is copied', async () => {
  const from = makeFolder('right', {})
  const file = join(root, 'right-file')
  writeFileSync(file, '')
  const wrong: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
    [() => files.uploadFolder(''), /from/],
    [() => files.uploadFolder(join(root, 'absent')), /from: ENOENT/],
    [() => files.uploadFolder(file), /from: ENOTDIR/],
    [() => files.uploadFolder(from, { ignore: 'x' as never }), /ignore must be a list/],
    [() => files.uploadFolder(from, { ignore: ['ok', ''] }), /ignore\[1\] must not be empty/],
    [() => files.uploadFolder(from, { ignore: ['../up'] }), /ignore\[0\]/],
    [() => files.uploadFolder(from, { entriesMax: -1 }), /entriesMax/],
    [() => files.uploadFolder(from, { onProgress: 5 as never }), /onProgress/],
    [() => files.uploadFolder(from, { other: 1 } as never), /"other"/],
    [() => files.downloadFolder(5 as never), /to must be/],
    [() => files.downloadFolder(file), /to: /],
    [() => files.downloadFolder(join(root, 'unmade'), { path: '' }), /path/],
  ]
  for (const [copy, message] of wrong) await assert.rejects(copy, { code: 'INVALID_REQUEST', message })
  await assert.rejects(files.downloadFolder(join(root, 'unmade'), { path: 'absent' }), {
    code: 'FILE_NOT_FOUND',
  })
  assert.equal(existsSync(join(root, 'unmade')), false)
})
