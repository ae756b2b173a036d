/**
 * Guests that atomically exchange folders, links, files and pipes (RENAME_EXCHANGE), over and over, while operations
 * run on them. Each operation ends with a result or an error; nothing outside the cell is reached.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import { rawTar } from './raw-tar.ts'
import { useFiles } from './use-files.ts'

const { files } = useFiles()
const hostFolder = mkdtempSync(join(tmpdir(), 'swap-test-'))
const hostFile = join(hostFolder, 'secret')
writeFileSync(hostFile, 'of the host')

const swap = `
import ctypes, os
libc = ctypes.CDLL(None)
exchange = lambda one, other: libc.renameat2(-100, one.encode(), -100, other.encode(), 2)
os.makedirs('race/folder/in', exist_ok=True); open('race/folder/in/file', 'w').write('own')
os.symlink('${hostFolder}', 'race/link'); os.symlink('/proc/1/root${hostFolder}', 'race/other')
open('race/file', 'w').write('own'); os.symlink('${hostFile}', 'race/secret'); os.mkfifo('race/pipe')
os.symlink('/dev/zero', 'race/endless')
for turn in range(2):
    if os.fork() == 0:
        os.chdir('race')
        while True:
            for pair in (('folder', 'link'), ('folder/in', 'other'), ('file', 'secret'), ('file', 'pipe'), ('folder/in/file', 'endless'), ('pipe', 'endless')):
                exchange(*pair)
open('ready', 'w').close()
import time; time.sleep(1000)`

after(() => rmSync(hostFolder, { recursive: true }))

/** Overlapping writes may leave the beginning of one text and the end of another. */
const written = /^(?:own|x|written|owntten|xritten)?$/

const operations: readonly ((turn: number) => Promise<unknown>)[] = [
  async () => assert.match(await files.readFile('race/file', { bytesMax: 1000 }), written),
  async () => assert.match(await files.readFile('race/folder/in/file', { bytesMax: 1000 }), written),
  () => files.writeFile('race/file', 'written'),
  () => files.writeFile('race/folder/secret', 'written'),
  () => files.writeFile('race/folder/in/file', 'written'),
  () => files.mkdir('race/folder/made/deeper', { recursive: true }),
  () => files.listFiles('race', { recursive: true }),
  async () => {
    for await (const _ of files.downloadTar({ path: 'race', bytesMax: 1_000_000 }));
  },
  (turn) =>
    files.uploadTar(rawTar({ name: `folder/in/up${turn}`, content: 'x' }, { name: 'pipe', content: 'x' }), {
      path: 'race',
    }),
  () => files.deleteFile('race/folder/made', { recursive: true }),
  () => files.moveFile('race/folder/secret', '/tmp/secret'),
  () => files.stat('race/link'),
  () => files.deleteFile('race/folder', { recursive: true }),
]

test('each operation ends, and nothing outside the cell is read or changed', async () => {
  await files.writeFile('swap.py', swap)
  await files.startProcess('exec python3 swap.py')
  while (!(await files.exists('ready')));
  let done = 0
  const refused = new Map<string, number>()
  for (let turn = 0; turn < 40; turn++) {
    const all = operations.map((operation) => operation(turn))
    for (const outcome of await Promise.allSettled(all)) {
      if (outcome.status === 'fulfilled') done++
      else {
        const error: unknown = outcome.reason
        if (!(error instanceof LazaretError)) throw error
        refused.set(error.code, (refused.get(error.code) ?? 0) + 1)
      }
    }
    const again = ['race/folder/in/file', 'race/file'].map((path) =>
      files.writeFile(path, 'own', { createParents: true }),
    )
    await Promise.allSettled(again)
  }
  assert.ok(done > 0)
  assert.ok(!refused.has('FILES_LOST'), JSON.stringify([...refused]))
  assert.equal(readFileSync(hostFile, 'utf8'), 'of the host')
  for (const name of ['made', 'file', 'up1', 'in']) assert.equal(existsSync(join(hostFolder, name)), false)
})
