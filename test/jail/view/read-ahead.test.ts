import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

import { ReadAhead } from '../../../src/jail/view/read-ahead.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { eventually } from '../../support/eventually.ts'
import { cachedShare, dropFromCache } from '../../support/machine/page-cache.ts'
import {
  ownGround,
  planExample,
  planRestrictedExample,
  recordsOf,
  exampleShape,
} from '../cell/example-cell.ts'
import { RawLauncher, sendPlan } from '../launch/raw-launcher.ts'

const engine = { host: '/srv/engine', guest: '/opt/lazaret/bin/engine' }
const shape = { ...exampleShape, binds: [engine, { host: '/srv/data', guest: '/srv/data' }] }

test('Lazaret’s own programs are read ahead, and nothing that an operator shows', () => {
  assert.deepEqual(new ReadAhead().next(shape), [engine.host])
})

test('each program is read ahead once in 256 cells', () => {
  const readAhead = new ReadAhead()
  const other = { ...shape, binds: [{ ...engine, host: '/srv/other' }] }
  const cells = Array.from({ length: 257 }, (_, index) => readAhead.next(index === 5 ? other : shape).join())
  const due = cells.flatMap((paths, index) => (paths === '' ? [] : [[index, paths]]))
  assert.deepEqual(due, [
    [0, engine.host],
    [5, '/srv/other'],
    [256, engine.host],
  ])
})

test('a launcher reads ahead first of all, outside the cgroup, where a cgroup limits memory', () => {
  const ground = { ...ownGround, readAhead: [engine.host] }
  for (const plan of [planExample, planRestrictedExample]) {
    assert.deepEqual(plan(ground).records[0], { do: 'read-ahead', path: engine.host })
    assert.deepEqual(recordsOf(plan({ ...ground, memoryHeldByCgroup: false }), 'read-ahead'), [])
  }
})

test('what was read ahead is cached', async () => {
  // /tmp may be a tmpfs, but not every user can write elsewhere.
  const folder = mkdtempSync(
    process.getuid?.() === 0 ? `${checkoutRoot}/node_modules/.ahead-` : join(tmpdir(), 'ahead-'),
  )
  const path = join(folder, 'program')
  try {
    writeFileSync(path, Buffer.alloc(3_000_001, 'x'))
    dropFromCache(path)
    const launcher = new RawLauncher()
    // The last record fails, which ends the launcher.
    sendPlan(launcher, [
      { do: 'read-ahead', path: folder },
      { do: 'read-ahead', path: `${path}/missing` },
      { do: 'read-ahead', path },
      { do: 'setting', path: '/nowhere', value: '' },
    ])
    await launcher.ended
    await eventually(() => (cachedShare(path) === 1 ? undefined : `${cachedShare(path)} is cached`), 5000)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
