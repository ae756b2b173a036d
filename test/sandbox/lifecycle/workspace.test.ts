/** A folder of the host as the workspace: the only place on the host that commands write to, and it persists. */
import assert from 'node:assert/strict'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { LazaretError } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const outer = mkdtempSync(join(tmpdir(), 'lazaret-workspace-'))
after(() => rmSync(outer, { recursive: true, force: true }))
const folder = join(outer, 'kept')
mkdirSync(folder)
const { lazaret } = await useLazaret({ access: { workspaces: ['/'] } })
const isRoot = process.getuid?.() === 0
/** A user who is neither root nor the cell's. */
const owner = isRoot
  ? { uid: 4242, gid: 4243 }
  : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
if (isRoot) chownSync(folder, owner.uid, owner.gid)

const open = () => lazaret.sandbox({ workspace: folder })
const ownerOf = (name: string) => {
  const { uid, gid } = statSync(join(folder, name))
  return { uid, gid }
}

test('files that commands write there persist, and belong to its owner', async () => {
  {
    await using sandbox = await open()
    const { stdout, stderr } = await sandbox.exec('mkdir d && echo one > d/kept && stat -c %u:%g d/kept')
    assert.deepEqual([stdout, stderr], ['1000:1000\n', ''])
    const secure = await sandbox.exec('echo "$TOKEN" > said', { env: { TOKEN: 'two' } })
    assert.equal(secure.isolation.space, 'secure')
    await sandbox.writeFile('/workspace/d/written', 'three')
  }
  assert.deepEqual(
    [ownerOf('d'), ownerOf('d/kept'), ownerOf('said'), ownerOf('d/written')],
    Array(4).fill(owner),
  )
  assert.equal(readFileSync(join(folder, 'said'), 'utf8'), 'two\n')
  await using next = await open()
  assert.equal((await next.exec('cat d/kept d/written && echo more >> d/kept')).stdout, 'one\nthree')
  assert.equal(readFileSync(join(folder, 'd/kept'), 'utf8'), 'one\nmore\n')
})

test('files that a sandbox is given replace existing ones', async () => {
  for (const text of ['first', 'second']) {
    await using sandbox = await lazaret.sandbox({ workspace: folder, files: { 'deep/down/given': text } })
    assert.equal((await sandbox.exec('cat deep/down/given')).stdout, text)
  }
})

test('nothing else of the host is visible, even through links that guests create in it', async () => {
  const secret = join(outer, 'outside')
  writeFileSync(secret, 'of the host')
  await using sandbox = await open()
  const { stdout } = await sandbox.exec(
    `ln -s ${secret} out; ln -s .. up; cat out; cat up${secret}; ls ${tmpdir()}`,
  )
  assert.equal(stdout, '')
  await assert.rejects(
    sandbox.readFile('/workspace/out'),
    (error: LazaretError) => error.code === 'FILE_NOT_FOUND',
  )
})

test('programs that guests mark as set-uid in it give them nothing', async () => {
  await using sandbox = await open()
  const { stdout } = await sandbox.exec(
    'cp /usr/bin/id me && chmod 6755 me && ./me -u && grep -o nosuid /proc/self/mountinfo | head -1',
  )
  assert.equal(stdout, '1000\nnosuid\n')
})

test('a folder of another owner is refused before anything runs, and so is a path that is not a folder', async () => {
  const refused = (workspace: string, wanted: RegExp) =>
    assert.rejects(lazaret.sandbox({ workspace }), (error: LazaretError) => {
      assert.equal(error.code, 'INVALID_REQUEST')
      assert.match(error.message, wanted)
      return true
    })
  await refused('/usr', /belongs to root/)
  await refused(join(folder, 'not-there'), /is not a folder/)
  await refused('relative', /absolute/)
  writeFileSync(join(folder, 'file'), '')
  await refused(join(folder, 'file'), /is not a folder/)
  assert.ok(existsSync(join(folder, 'file')))
})

test('a link to the folder is followed once, by the host', async () => {
  const link = join(outer, 'link')
  symlinkSync(folder, link)
  await using sandbox = await lazaret.sandbox({ workspace: link })
  assert.equal((await sandbox.exec('touch through-a-link && echo made')).stdout, 'made\n')
  assert.ok(existsSync(join(folder, 'through-a-link')))
})
