/**
 * The store on disk: leftovers of dead processes are removed, and concurrent processes never damage each other's work.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'

import type { Environment, EnvironmentLock } from '../../src/environments/environment.ts'
import { sealFolder } from '../../src/environments/seal.ts'
import type { Seal } from '../../src/environments/seal.ts'
import { environmentIn, EnvironmentStore, isWhole } from '../../src/environments/store.ts'
import { nameOfThisHost } from '../../src/jail/machine/host-identity.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-store-'))
after(() => rmSync(folder, { recursive: true }))

const hash = '5'.repeat(64)
const named = { updatedAt: '2026-01-01T00:00:00.000Z', spec: {} }
const filesMany = 300
/** By the number of files. */
const seals = new Map<number, Seal>()

function openStore(name: string) {
  const place = join(folder, name)
  return { place, store: new EnvironmentStore(() => place), other: new EnvironmentStore(() => place) }
}

interface Made {
  readonly files?: number
  readonly lock?: EnvironmentLock
  readonly replace?: boolean
}

async function keep(
  store: EnvironmentStore,
  name: string,
  { files = 8, lock = {}, replace = false }: Made = {},
): Promise<Environment> {
  await using staged = await store.stage()
  const made = environmentIn(staged.path)
  for (let file = 0; file < files; file++) writeFileSync(join(made, `${file}.py`), '')
  const seal = seals.get(files) ?? (await sealFolder(made))
  seals.set(files, seal)
  const sealed = { pythonVersion: null, python: [], npm: [], lock, ...seal }
  return await store.keep(name, staged.path, { manifest: sealed, replace, ...named })
}

test('a build removes leftovers of dead processes, but not those of running ones', async () => {
  const { place, store } = openStore('leftovers')
  const living = nameOfThisHost()
  // The mark of a process that has ended. No later process with its pid has the same start time.
  const dead = living.replace(/-\d+-\d+-\d+$/, `-${spawnSync('true').pid}-1-1`)
  assert.notEqual(dead, living)
  for (const host of [dead, living]) {
    mkdirSync(join(place, 'building', host, 'python'), { recursive: true })
    mkdirSync(join(place, 'users', hash, host), { recursive: true })
    mkdirSync(join(place, 'names'), { recursive: true })
    writeFileSync(join(place, 'names', `site.json.${host}`), '{"ha')
  }
  await using staged = await store.stage()
  const list = (name: string) =>
    readdirSync(join(place, name)).filter((one) => !staged.path.endsWith(`/${one}`))
  assert.deepEqual(list('building'), [living])
  assert.deepEqual(list('names'), [`site.json.${living}`])
  assert.deepEqual(list(`users/${hash}`), [living])
  assert.deepEqual(await store.list(), [])
})

test('a name never points to a missing environment during its removal', async () => {
  const { place, store, other } = openStore('removal')
  const environment = await keep(store, 'site', { files: filesMany })
  assert.deepEqual(store.find('site'), environment)
  let moments = 0
  const over = new AbortController()
  const removed = store.remove('site', environment).finally(() => over.abort())
  for (; !over.signal.aborted; moments++) {
    if (existsSync(join(place, 'names', 'site.json'))) other.find('site')
    await nextTurn()
  }
  assert.equal(await removed, true)
  assert.ok(moments > 5, `only ${moments} moments were seen`)
  assert.equal(store.find('site'), undefined)
  assert.deepEqual(readdirSync(join(place, 'objects')), [])
})

test('an environment that somebody uses keeps its name', async () => {
  const { store, other } = openStore('used')
  const environment = await keep(store, 'site')
  const stop = other.use(environment.hash)
  assert.ok(stop !== undefined)
  assert.equal(await store.remove('site', environment), false)
  assert.deepEqual(other.find('site'), environment)
  await stop()
  assert.equal(await store.remove('site', environment), true)
})

test('an environment that is being stored does not count as unnamed', async () => {
  const { place, store, other } = openStore('beside')
  const { hash: expected } = await keep(store, 'first', { files: filesMany })
  await store.forget('first')
  for (let round = 0; round < 25; round++) {
    const over = new AbortController()
    const keeping = keep(store, 'site', { files: filesMany }).finally(() => over.abort())
    // Works like `prune()` on environments that had no name when it looked. Several run at once, so they overlap at
    // every point.
    const remove = async (): Promise<void> => {
      while (!over.signal.aborted) await other.removeUnused(expected)
    }
    await Promise.all([keeping, remove(), remove(), remove()])
    const fresh = new EnvironmentStore(() => place).find('site')
    assert.ok(fresh !== undefined, `round ${round}`)
    assert.equal(fresh.hash, expected)
    await store.remove('site', fresh)
  }
})

test('of two builds of one name one gets it, and the other leaves nothing', async () => {
  const { place, store, other } = openStore('at-once')
  for (let round = 0; round < 10; round++) {
    const locks = [{ python: 'good==1.0\n' }, { python: round % 2 === 0 ? 'good==1.0\n' : 'evil==6.6.6\n' }]
    const ends = await Promise.allSettled([
      keep(store, 'site', { lock: locks[0] ?? {} }),
      keep(other, 'site', { lock: locks[1] ?? {} }),
    ])
    const kept = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
    const refused = ends.flatMap((end) =>
      end.status === 'rejected' ? [end.reason as { code?: string }] : [],
    )
    assert.deepEqual([kept.length, refused.map(({ code }) => code)], [1, ['ENVIRONMENT_EXISTS']])
    const found = new EnvironmentStore(() => place).find('site')
    assert.deepEqual(found, kept[0])
    assert.deepEqual(readdirSync(join(place, 'objects')), [found?.hash])
    assert.deepEqual(readdirSync(join(place, 'names')), ['site.json'])
    assert.ok(await isWhole(store.folderOf(found?.hash ?? ''), found?.hash ?? ''))
    assert.ok(found !== undefined && (await store.remove('site', found)))
  }
})

test('the same files with another lock are another environment', async () => {
  const { store } = openStore('locks')
  const good = await keep(store, 'good', { lock: { python: 'good==1.0\n' } })
  const evil = await keep(store, 'evil', { lock: { python: 'evil==6.6.6\n' } })
  assert.notEqual(evil.hash, good.hash)
  assert.deepEqual(store.find('good'), good)
})

test('what is stored under a hash already is believed only if it is whole', async () => {
  const { place, store } = openStore('whole')
  const { hash: own } = await keep(store, 'site')
  const object = store.folderOf(own)
  const damage = [
    () => writeFileSync(join(object, '7.py'), 'evil = 1\n'),
    () => rmSync(join(object, '7.py')),
    () => writeFileSync(join(object, 'more.py'), ''),
    () => chmodSync(join(object, '7.py'), 0o755),
    () => writeFileSync(join(object, 'environment.json'), '{}'),
    () => rmSync(join(object, 'environment.json')),
  ]
  for (const hurt of damage) {
    hurt()
    assert.equal(await isWhole(object, own), false, String(hurt))
    assert.equal((await keep(store, 'site', { replace: true })).hash, own)
    assert.equal(await isWhole(object, own), true, String(hurt))
  }
  assert.deepEqual(readdirSync(join(place, 'building')), [])
})

test('a record that is not what its hash says is refused, and its name can be removed', async () => {
  const { place, store } = openStore('record')
  const { hash: own } = await keep(store, 'site')
  const path = join(store.folderOf(own), 'environment.json')
  writeFileSync(path, readFileSync(path, 'utf8').replace('"lock": {', '"lock": { "python": "evil==6.6.6",'))
  const fresh = new EnvironmentStore(() => place)
  const refused = { code: 'ENVIRONMENT_FAILED', message: /environment site is damaged/, hint: /with replace/ }
  assert.throws(() => fresh.find('site'), refused)
  await assert.rejects(fresh.list(), refused)
  const point = fresh.named('site')
  assert.ok(point !== undefined && (await fresh.remove('site', point)))
  assert.deepEqual(await fresh.list(), [])
})
