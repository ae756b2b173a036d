/** What a lock must say, and that downloaded and installed files are compared with it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { readInstalledNpm, requireHashes } from '../../src/environments/npm-lock.ts'
import { readPythonLock, requireLocked } from '../../src/environments/python-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-locks-'))
after(() => rmSync(folder, { recursive: true }))

const sha = (algorithm: string, text: string): string => createHash(algorithm).update(text).digest('hex')

test('an archive must have one of the hashes of the lock', async () => {
  const lock = readPythonLock(
    [
      '# a comment with --hash=sha256:' + sha('sha256', 'comment'),
      '--index-url https://example.org/simple',
      `good==1.0 ; python_version > "3" --hash=sha256:${sha('sha256', 'one')} \\`,
      `    --hash=SHA512:${sha('sha512', 'two')}  # and another`,
      `other @ https://example.org/other.whl --hash=sha256:${sha('sha256', 'one')}`,
      '-e ./here',
    ].join('\n'),
  )
  assert.equal(lock.requirements, 'good==1.0 ; python_version > "3"\nother\n')
  const path = join(folder, 'archive')
  for (const text of ['one', 'two']) {
    writeFileSync(path, text)
    await requireLocked(path, 'archive', lock)
  }
  for (const text of ['three', 'comment', '']) {
    writeFileSync(path, text)
    await assert.rejects(requireLocked(path, 'archive', lock), {
      code: 'ENVIRONMENT_FAILED',
      hint: /not what the lock says/,
    })
  }
})

test('npm’s lock must have a hash for every package', () => {
  const lockOf = (entry: object): string =>
    JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/a': entry } })
  requireHashes(lockOf({ version: '1.0.0', integrity: 'sha512-AA==' }))
  requireHashes(lockOf({ version: '1.0.0', inBundle: true }))
  const refused = { code: 'INVALID_REQUEST' }
  assert.throws(() => requireHashes(lockOf({ version: '1.0.0' })), refused)
  assert.throws(() => requireHashes(lockOf({ link: true, resolved: '../elsewhere' })), refused)
  assert.throws(() => requireHashes('{ "lockfileVersion": 1, "dependencies": {} }'), refused)
  assert.throws(() => requireHashes('no JSON'), refused)
})

test('installed npm packages must be those of the lock file, at their places', async () => {
  const entries: Record<string, object> = {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/@s/b': { version: '2.0.0' },
    'node_modules/a/node_modules/c': { version: '3.0.0', inBundle: true },
    'node_modules/renamed': { name: 'd', version: '4.0.0' },
    'node_modules/elsewhere': { version: '5.0.0', optional: true },
  }
  let round = 0
  const read = (packages: Record<string, object>, changes: Record<string, object | string> = {}) => {
    const place = join(folder, `tree-${++round}`)
    const files = {
      'a/package.json': { name: 'a', version: '1.0.0' },
      '@s/b/package.json': { name: '@s/b', version: 'v2.0.0+build.7' },
      'a/node_modules/c/package.json': { name: 'c', version: '3.0.0' },
      'a/test/node_modules/fixture/package.json': { name: 'fixture', version: '0.0.0' },
      'renamed/package.json': { name: 'd', version: '4.0.0' },
      '.bin/d': 'exit',
      ...changes,
    }
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(place, path, '..'), { recursive: true })
      writeFileSync(join(place, path), typeof content === 'string' ? content : JSON.stringify(content))
    }
    return readInstalledNpm(place, JSON.stringify({ packages }))
  }
  assert.deepEqual(await read(entries), [
    { name: 'a', version: '1.0.0' },
    { name: '@s/b', version: '2.0.0' },
    { name: 'c', version: '3.0.0' },
    { name: 'd', version: '4.0.0' },
  ])
  const failed = { code: 'ENVIRONMENT_FAILED' }
  const changed: Record<string, object | string>[] = [
    { 'a/package.json': { name: 'a', version: '1.0.1' } },
    { 'a/package.json': { name: 'evil', version: '1.0.0' } },
    { 'a/package.json': 'no JSON' },
    { 'evil/index.js': '' },
    { '@s/evil/index.js': '' },
  ]
  for (const changes of changed) await assert.rejects(read(entries, changes), failed, JSON.stringify(changes))
  const strange = ['node_modules/missing', 'node_modules/../a', '/etc', 'a', 'node_modules/a b', '__proto__x']
  for (const path of strange)
    await assert.rejects(read({ ...entries, [path]: { version: '1.0.0' } }), failed, path)
  for (const version of ['1.0.0\u001b[31m', '1 --x', ''])
    await assert.rejects(read({ ...entries, 'node_modules/a': { version } }), (error: Error) => {
      assert.ok(!/\p{Cc}/u.test(error.message))
      return true
    })
})
