import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

import { describeFound, loadConfiguration } from '../../../../src/adapters/cli/configuration/configuration.ts'
import type { ConfigurationPlaces } from '../../../../src/adapters/cli/configuration/config-places.ts'
import { narrow } from '../../../../src/adapters/cli/options/narrow-options.ts'
import type { LazaretOptions } from '../../../../src/engine/options/options.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../temporary-folder.ts'
import { isPrivateGroup } from '../../../../src/runtimes/work/private-group.ts'

let folder: TemporaryFolder
beforeEach(async () => {
  folder = await createTemporaryFolder()
})
afterEach(async () => folder[Symbol.asyncDispose]())

const inFolder = (...names: string[]) => join(folder.path, ...names)

function put(path: string, config: object | string): string {
  mkdirSync(dirname(inFolder(path)), { recursive: true })
  writeFileSync(inFolder(path), typeof config === 'string' ? config : JSON.stringify(config), { mode: 0o644 })
  return inFolder(path)
}

/** Each place has its own folder, and the command runs three folders deep. */
function load(places: Partial<ConfigurationPlaces> = {}) {
  mkdirSync(inFolder('project', 'a', 'b'), { recursive: true })
  return loadConfiguration({
    user: inFolder('user'),
    system: inFolder('system'),
    folder: inFolder('project', 'a', 'b'),
    ...places,
  })
}

const usage = (message: RegExp) => ({ name: 'UsageError', message })

test('the trusted file may set every option: the named one, else the user’s, else the system’s', async () => {
  put('system/lazaret.config.json', { defaults: { wallMs: 1 } })
  assert.deepEqual((await load()).options, { defaults: { wallMs: 1 } })
  put('user/lazaret.config.json', { defaults: { cpuMs: 2 } })
  assert.deepEqual((await load()).options, { defaults: { cpuMs: 2 } })
  const environment = put('other.json', { minimumProtection: 'none' })
  assert.deepEqual((await load({ environment })).options, { minimumProtection: 'none' })
  put('project/a/b/flag.json', { allowUnenforced: ['cpuMs'] })
  const { options, files } = await load({ environment, flag: 'flag.json' })
  assert.deepEqual(options, { allowUnenforced: ['cpuMs'] })
  assert.deepEqual(files, [{ path: inFolder('project/a/b/flag.json'), from: 'flag', use: 'full' }])
})

test('every found file narrows the options, whichever is nearer, unless a file is named', async () => {
  put('user/lazaret.config.json', { ceilings: { wallMs: 5_000, cpuMs: null }, allowUnenforced: ['cpuMs'] })
  put('project/lazaret.config.json', { ceilings: { wallMs: 1_000 }, minimumProtection: 'strong' })
  put('project/a/b/lazaret.config.json', {
    $schema: 'x',
    ceilings: { wallMs: 2_000, cpuMs: 300 },
    defaults: { memoryBytes: 100_000_000 },
  })
  const { options, files } = await load()
  assert.deepEqual(options, {
    allowUnenforced: ['cpuMs'],
    minimumProtection: 'strong',
    ceilings: { wallMs: 1_000, cpuMs: 300 },
    defaults: { memoryBytes: 100_000_000 },
  })
  assert.deepEqual(
    files.map(({ from, use }) => `${from} ${use}`),
    ['user full', 'found narrows', 'found narrows'],
  )
  const [line = '', ...others] = describeFound(files)
  assert.deepEqual(others, [])
  assert.match(
    line,
    /^narrowed by \S+\/a\/b\/lazaret\.config\.json, \S+\/project\/lazaret\.config\.json, found/,
  )
  const flag = put('named.json', {})
  assert.deepEqual((await load({ flag })).options, {})
})

test('a found file that repeats the present level does not count as naming it', () => {
  assert.deepEqual(narrow({}, { minimumProtection: 'standard' }), {})
})

const wide: Readonly<Record<string, LazaretOptions>> = {
  '`toolchains`': { toolchains: {} },
  '`readable`': { readable: [] },
  '`pools`': { pools: {} },
  '`preload`': { preload: ['os'] },
  '`access`': { access: {} },
  '`queue`': { queue: { runningMax: 1 } },
  '`rate`': { rate: { perMinute: 1 } },
  '`breaker`': { breaker: {} },
  '`uidRange`': { uidRange: { first: 100_000, count: 65_536 } },
  '`allowUnenforced`': { allowUnenforced: [] },
  '`minimumProtection` restricted (standard is in force)': { minimumProtection: 'restricted' },
  '`defaults.wallMs` 30001 (30000 is in force)': { defaults: { wallMs: 30_001 } },
  '`ceilings.wallMs` 5001 (5000 is in force)': { ceilings: { wallMs: 5_001 } },
  '`defaults.cpuMs` null (100 is in force)': { defaults: { cpuMs: null } },
  '`defaults.memoryBytes` 536870913 (536870912 is in force)': { defaults: { memoryBytes: 536_870_913 } },
}

test('a found file that widens an option stops the command, and the error says what and how to allow it', async () => {
  put('user/lazaret.config.json', { ceilings: { wallMs: 5_000 }, defaults: { cpuMs: 100 } })
  for (const [asked, config] of Object.entries(wide)) {
    const path = put('project/lazaret.config.json', config)
    await assert.rejects(load(), (error: Error & { hint?: string }) => {
      assert.equal(error.name, 'UsageError')
      assert.equal(
        error.message,
        `${path} was found in this folder or one above it, so it may only narrow; it asks for ${asked}.`,
      )
      assert.match(error.hint ?? '', new RegExp(`--config ${path}`))
      return true
    })
    assert.deepEqual(Object.keys((await load({ flag: path })).options), Object.keys(config))
  }
})

test('the user’s own file does not count as found when the command runs in its folder', async () => {
  const path = put('user/lazaret.config.json', { readable: [] })
  const { files } = await load({ folder: inFolder('user') })
  assert.deepEqual(files, [{ path, from: 'user', use: 'full' }])
  symlinkSync('user', inFolder('link'))
  assert.equal((await load({ user: inFolder('link'), folder: inFolder('user') })).files.length, 1)
})

test('a named file must exist, and the environment must name it by an absolute path', async () => {
  await assert.rejects(load({ flag: 'other.json' }), usage(/other\.json: no such file/))
  await assert.rejects(load({ flag: '.' }), usage(/not a regular file/))
  await assert.rejects(load({ environment: 'other.json' }), usage(/LAZARET_CONFIG must be an absolute path/))
})

for (const place of ['user', 'system', 'flag', 'project'] as const) {
  const places = place === 'flag' ? { flag: '../../../flag/lazaret.config.json' } : {}

  test(`${place}: a pipe, a folder, an endless and an oversized file are refused at once`, async () => {
    const path = `${place}/lazaret.config.json`
    mkdirSync(inFolder(place), { recursive: true })
    execFileSync('mkfifo', ['-m', '600', inFolder(path)])
    await assert.rejects(load(places), usage(/not a regular file/))
    execFileSync('rm', [inFolder(path)])
    symlinkSync('/dev/zero', inFolder(path))
    // Everybody may write to it, so a file that is found in this folder or above is ignored.
    if (place === 'project') assert.equal((await load()).files[0]?.use, 'none')
    else await assert.rejects(load(places), usage(/zero can be written by everybody/))
    execFileSync('rm', [inFolder(path)])
    put(path, `${' '.repeat(64 * 1024)}{}`)
    await assert.rejects(load(places), usage(/longer than 64 KiB/))
    execFileSync('rm', [inFolder(path)])
    mkdirSync(inFolder(path))
    await assert.rejects(load(places), usage(/not a regular file/))
  })

  test(`${place}: a configuration file that others can write stops the command`, async () => {
    const path = put(`${place}/lazaret.config.json`, {})
    for (const mode of isPrivateGroup(statSync(path).gid) ? [0o666, 0o646] : [0o666, 0o646, 0o664]) {
      chmodSync(path, mode)
      await assert.rejects(load(places), usage(/can be written by (everybody|its group)/))
    }
    chmodSync(path, 0o644)
    await load(places)
  })
}

for (const place of ['user', 'system', 'flag'] as const) {
  test(`${place}: so does a writable folder of its path, also behind a link`, async () => {
    const path = put(`${place}/deep/lazaret.config.json`, {})
    const places = place === 'flag' ? { flag: path } : { [place]: dirname(path) }
    chmodSync(inFolder(place), 0o777)
    await assert.rejects(load(places), usage(new RegExp(`${place} can be written by everybody`)))
    mkdirSync(inFolder('links'))
    symlinkSync(path, inFolder('links', 'lazaret.config.json'))
    const linked =
      place === 'flag' ? { flag: inFolder('links', 'lazaret.config.json') } : { [place]: inFolder('links') }
    await assert.rejects(load(linked), usage(new RegExp(`${place} can be written by everybody`)))
    chmodSync(inFolder(place), 0o1777)
    await load(places)
    await load(linked)
  })
}

test('text that is not JSON, and unknown keys, are shown without control sequences', async () => {
  for (const text of ['\u001b]0;x\u0007{', '{"\u009b8m\\u001b[8m":1}']) {
    put('project/lazaret.config.json', text)
    await assert.rejects(load(), (error: Error) => {
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(error.message, /[\x00-\x1f\x7f-\x9f]/)
      return true
    })
  }
})

test(
  'the error names another user’s home as the reason, and what to set',
  { skip: process.geteuid?.() === 0 && 'root may read every folder' },
  async () => {
    mkdirSync(inFolder('user'), { mode: 0 })
    await assert.rejects(load(), (error: Error & { hint?: string }) => {
      assert.match(error.message, /permission denied/)
      assert.match(error.hint ?? '', /HOME or XDG_CONFIG_HOME/)
      return true
    })
    chmodSync(inFolder('user'), 0o700)
  },
)

test('options of the server can only be set in the trusted file', async () => {
  const serve = { bounds: { idleMs: 5 }, cors: ['https://app.example'], publicHosts: ['build.example'] }
  put('user/lazaret.config.json', { serve, defaults: { wallMs: 1 } })
  const { options, serve: obeyed } = await load()
  assert.deepEqual([options, obeyed], [{ defaults: { wallMs: 1 } }, serve])
  put('project/lazaret.config.json', { serve: { cors: [] } })
  await assert.rejects(load(), usage(/asks for `serve`/))
  for (const wrong of [
    { bounds: { idleMS: 5 } },
    { bounds: { idleMs: 0 } },
    { bounds: { idleMs: 2 ** 31 } },
    { cors: ['*'] },
    { cors: ['https://app.example/'] },
    { publicHosts: ['build.example:80'] },
    { token: 'x' },
  ]) {
    const flag = put('wrong.json', { serve: wrong })
    await assert.rejects(load({ flag }), usage(/serve/), JSON.stringify(wrong))
  }
})
