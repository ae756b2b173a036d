/**
 * The store on disk: leftovers of dead processes are removed, and concurrent processes never damage each other's work.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'

import { EnvironmentStore } from '../../src/environments/store.ts'
import { nameOfThisHost } from '../../src/jail/machine/host-identity.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-store-'))
after(() => rmSync(folder, { recursive: true }))

const hash = '5'.repeat(64)
const named = { hash, updatedAt: '2026-01-01T00:00:00.000Z', spec: {} }
const sealed = { pythonVersion: null, python: [], npm: [], files: 0, bytes: 0, lock: {} }
const filesMany = 300

function openStore(name: string) {
  const place = join(folder, name)
  return { place, store: new EnvironmentStore(() => place), other: new EnvironmentStore(() => place) }
}

async function keep(store: EnvironmentStore, name: string): Promise<void> {
  await using staged = await store.stage()
  for (let file = 0; file < filesMany; file++) writeFileSync(join(staged.path, `${file}.py`), '')
  await store.keep(name, staged.path, { sealed, named })
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
    writeFileSync(join(place, 'building', `${host}.tar`), 'half an arch')
    writeFileSync(join(place, 'names', `site.json.${host}`), '{"ha')
  }
  await using staged = await store.stage()
  const list = (name: string) =>
    readdirSync(join(place, name)).filter((one) => !staged.path.endsWith(`/${one}`))
  assert.deepEqual(list('building').toSorted(), [living, `${living}.tar`])
  assert.deepEqual(list('names'), [`site.json.${living}`])
  assert.deepEqual(list(`users/${hash}`), [living])
  assert.deepEqual(await store.list(), [])
})

test('a name never points to a missing environment during its removal', async () => {
  const { place, store, other } = openStore('removal')
  await keep(store, 'site')
  const environment = store.find('site')
  assert.ok(environment !== undefined)
  let moments = 0
  const over = new AbortController()
  const removed = store.remove(environment).finally(() => over.abort())
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
  await keep(store, 'site')
  const stop = other.use(hash)
  const environment = store.find('site')
  assert.ok(environment !== undefined && stop !== undefined)
  assert.equal(await store.remove(environment), false)
  assert.deepEqual(other.find('site'), environment)
  await stop()
  assert.equal(await store.remove(environment), true)
})

test('an environment that is being stored does not count as unnamed', async () => {
  const { place, store, other } = openStore('beside')
  for (let round = 0; round < 25; round++) {
    const over = new AbortController()
    const keeping = keep(store, 'site').finally(() => over.abort())
    // Works like `prune()` on environments that had no name when it looked. Several run at once, so they overlap at
    // every point.
    const remove = async (): Promise<void> => {
      while (!over.signal.aborted) await other.removeUnused(hash)
    }
    await Promise.all([keeping, remove(), remove(), remove()])
    const fresh = new EnvironmentStore(() => place).find('site')
    assert.ok(fresh !== undefined, `round ${round}`)
    await store.remove(fresh)
  }
})
