/** Runs that need a folder on the host where none can be created. */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

import { createLazaret } from '../../support/create-lazaret.ts'
import { WorkFolders } from '../../../src/jail/view/work-folders.ts'

const before = process.env['TMPDIR']
let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lazaret-test-'))
  process.env['TMPDIR'] = folder
})

afterEach(() => {
  if (before === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = before
  rmSync(folder, { recursive: true, force: true })
})

test('every run gets its own path below one folder, which is removed when it is empty', () => {
  using folders = new WorkFolders()
  const [one, other] = [folders.next(), folders.next()]
  assert.notEqual(one, other)
  assert.equal(dirname(one), dirname(other))
  assert.ok(existsSync(dirname(one)) && !existsSync(one))
  folders[Symbol.dispose]()
  assert.deepEqual(readdirSync(folder), [])
})

test('without a temporary folder, the error says why, and what to set', () => {
  process.env['TMPDIR'] = join(folder, 'nowhere')
  using folders = new WorkFolders()
  assert.throws(() => folders.next(), { code: 'JAIL_UNAVAILABLE', message: /ENOENT/, hint: /TMPDIR/ })
})

test('a Lazaret that does not need such a folder works without one', async () => {
  process.env['TMPDIR'] = join(folder, 'nowhere')
  await using lazaret = createLazaret()
  const { level } = await lazaret.probe().catch(() => ({ level: 'none' }))
  const run = lazaret.run({ language: 'shell', code: 'echo here' })
  if (level === 'strong' || level === 'standard') assert.equal((await run).stdout, 'here\n')
  else await assert.rejects(run, { code: 'JAIL_UNAVAILABLE', hint: /TMPDIR/ })
})
