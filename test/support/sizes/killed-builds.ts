/**
 * SIGKILL to hosts that build, replace and remove environments. After each, every name must have a complete
 * environment.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { isWhole } from '../../../src/environments/store.ts'
import { makeWheel } from '../../environments/archives.ts'
import { createLazaret } from '../create-lazaret.ts'
import { AdoptedHost, compileAdopt } from '../hosts/adopted-host.ts'
import { untilAlone } from '../hosts/dead-hosts.ts'
import { seededRandom } from '../seeded-random.ts'

export interface KilledBuilds {
  /** The number of hosts that were killed after each step. */
  readonly strikes: Readonly<Record<string, number>>
}

/** The steps of one cycle, and a few of the next one. Each host replaces what the previous one has stored. */
const stepsMax = 9
/** The longest wait after a step. It reaches into the next step; half of the waits are much shorter, to hit renames. */
const laterMs = 120
const program = join(import.meta.dirname, '../hosts/building-host.ts')

export async function killBuilds({ seed, rounds }: { readonly seed: number; readonly rounds: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-builds-'))
  try {
    return await strikeAll(folder, { seed, rounds })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function strikeAll(
  folder: string,
  { seed, rounds }: { readonly seed: number; readonly rounds: number },
): Promise<KilledBuilds> {
  const [store, links, temporary] = ['store', 'links', 'temporary'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  chmodSync(folder, 0o755)
  mkdirSync(temporary)
  for (const version of ['1.0', '2.0'])
    makeWheel(links, { name: 'pricing', version }, { files: { 'pricing.py': `version = '${version}'\n` } })
  makeWheel(links, { name: 'tariff', version: '1.0' }, { files: { 'tariff.py': 'rate = 1\n' } })
  const adopt = compileAdopt(folder)
  const random = seededRandom(seed)
  const strikes: Record<string, number> = {}
  for (let round = 0; round < rounds; round++) {
    await using host = new AdoptedHost({
      adopt,
      program: [program, store, links],
      folder: temporary,
      prefix: [],
    })
    const steps = 1 + Math.floor(random() * stepsMax)
    const waitMs = random() < 0.5 ? random() * 4 : random() * laterMs
    await host.ready
    while (host.news.length < steps && host.status === undefined) await pause(1)
    await pause(waitMs)
    assert.equal(host.status, undefined, `the host ended by itself after ${JSON.stringify(host.news)}`)
    host.kill()
    await untilAlone(host)
    const last = host.news.at(-1)
    const step = `${last?.name} ${last?.end}`
    strikes[step] = (strikes[step] ?? 0) + 1
    await checkNames(store, `round ${round}, after ${step}`)
  }
  await checkNothingLeft(store, links)
  return { strikes }
}

/** Checks the names from another process, before anything has been cleaned up. */
async function checkNames(store: string, when: string): Promise<void> {
  await using lazaret = createLazaret({ environments: { folder: store }, onEvent: () => undefined })
  const all = await lazaret.environments
    .list()
    .catch((error: unknown) => assert.fail(`${when}: ${String(error)}`))
  for (const { name, hash } of all)
    assert.ok(await isWhole(join(store, 'objects', hash), hash), `${when}: ${name}`)
}

/** The next build removes leftovers of dead hosts, and `prune()` environments without a name. */
async function checkNothingLeft(store: string, links: string): Promise<void> {
  await using lazaret = createLazaret({ environments: { folder: store }, onEvent: () => undefined })
  const { environments } = lazaret
  await environments.create('last', { offline: true, findLinks: [links], python: ['tariff'] })
  assert.deepEqual(readdirSync(join(store, 'building')), [], 'what dead builds left')
  await environments.prune()
  const all = await environments.list()
  const list = (name: string) => readdirSync(join(store, name)).toSorted()
  assert.deepEqual(
    list('names'),
    all.map(({ name }) => `${name}.json`),
  )
  assert.deepEqual(list('objects'), [...new Set(all.map(({ hash }) => hash))].toSorted())
  const users = list('users').flatMap((hash) => readdirSync(join(store, 'users', hash)))
  assert.deepEqual(users, [], 'marks of dead users')
}
