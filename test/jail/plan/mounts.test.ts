import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'

import { LazaretError } from '../../../src/core/errors/errors.ts'
import type { CellPlan } from '../../../src/jail/plan/plan.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import type { Bind } from '../../../src/jail/plan/shape.ts'
import { ownGround, planExample, recordsOf, sharedGround } from '../cell/example-cell.ts'

/** The absolute guest path where a record creates or mounts something before the pivot. */
function target(record: PlanRecord): string | undefined {
  const makes = ['directory', 'file', 'symlink', 'bind', 'bind-own', 'mount'] as const
  if (!makes.some((name) => record.do === name) || !('path' in record)) return undefined
  return posix.join('/', record.path)
}

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)

function mountPoints(plan: CellPlan): string[] {
  const names = ['bind', 'bind-own', 'mount'] as const
  return names.flatMap((name) => recordsOf(plan, name).map(({ path }) => `/${path}`))
}

/** Checks that everything is created on the cell's own tmpfs: inside the new root, and not below a mount point. */
function assertOnOwnTmpfs(plan: CellPlan): void {
  const mounted: string[] = []
  for (const record of plan.records) {
    const path = target(record)
    if (path === undefined) continue
    assert.ok(
      'path' in record && !record.path.startsWith('/') && !record.path.split('/').includes('..'),
      JSON.stringify(record),
    )
    const covered = mounted.find((point) => isBelow(path, point))
    assert.equal(covered, undefined, `${record.do} ${path} lies below the mount ${covered}`)
    if (['bind', 'bind-own', 'mount'].includes(record.do)) mounted.push(path)
  }
}

for (const ground of [ownGround, sharedGround]) {
  const who = ground.identity.kind === 'own' ? 'by root' : 'by a user'

  test(`started ${who}, nothing is made or mounted below a folder that guests can write`, () => {
    const paths = planExample(ground).records.flatMap((record) => target(record) ?? [])
    for (const writable of ['/workspace', '/tmp', '/dev/shm']) {
      assert.deepEqual(
        paths.filter((path) => isBelow(path, writable)),
        [],
        writable,
      )
    }
  })

  test(`started ${who}, everything is created on our own tmpfs`, () => assertOnOwnTmpfs(planExample(ground)))

  test(`started ${who}, the workspace is the last mount before the pivot`, () => {
    const { records } = planExample(ground)
    const names = records.map((record) => (record.do === 'mount' ? record.path : record.do))
    assert.equal(names[names.indexOf('pivot') - 1], 'workspace')
  })
}

const name = fc.stringMatching(/^[a-z]{1,3}$/)
const guest = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `/data/${parts.join('/')}`)
const bind: fc.Arbitrary<Bind> = guest.map((path) => ({ host: `/srv${path}`, guest: path }))

test('for any readable folders, nothing is created in a folder of the host: the plan avoids it or is refused', () => {
  let planned = 0
  let refused = 0
  fc.assert(
    fc.property(fc.uniqueArray(bind, { maxLength: 6, selector: ({ guest: path }) => path }), (binds) => {
      const points = binds.map(({ guest: path }) => path)
      const isNested = points.some((path) => points.some((other) => isBelow(path, other)))
      if (isNested) {
        refused++
        assert.throws(
          () => planExample(ownGround, { binds }),
          (error) => error instanceof LazaretError && error.code === 'INVALID_REQUEST',
        )
        return
      }
      planned++
      const plan = planExample(ownGround, { binds })
      assertOnOwnTmpfs(plan)
      for (const point of points) assert.ok(mountPoints(plan).includes(point))
    }),
    // Nested paths that random ones may not produce.
    {
      examples: [
        [
          [
            { host: '/a', guest: '/data/a' },
            { host: '/b', guest: '/data/a/b' },
          ],
        ],
        [
          [
            { host: '/b', guest: '/data/a/b/c' },
            { host: '/a', guest: '/data/a' },
          ],
        ],
      ],
    },
  )
  assert.ok(planned > 0 && refused > 0)
})

for (const ground of [ownGround, sharedGround]) {
  const who = ground.identity.kind === 'own' ? 'by root' : 'by a user'

  test(`started ${who}, no inode of the host is shown but those of devices`, () => {
    const plan = planExample(ground)
    assert.ok(recordsOf(plan, 'open-tree').every(({ path }) => path.startsWith('/dev/')))
    assert.ok(recordsOf(plan, 'own-view').every(({ attributes }) => attributes === (1 | 2 | 4)))
    assert.ok(plan.layers.includes('own-view'))
  })

  test(`started ${who}, a folder for which the kernel makes no view is shown as it is, and the plan does not claim a view`, () => {
    const [refused] = recordsOf(planExample(ground), 'open-lower')
    const refusedLowers = [refused?.path ?? '']
    const plan = planExample({ ...ground, hostView: { ...ground.hostView, refusedLowers } })
    assert.ok(recordsOf(plan, 'open-lower').every(({ path }) => path !== refused?.path))
    assert.ok(recordsOf(plan, 'open-tree').some(({ path }) => path === '/usr'))
    assert.ok(!plan.layers.includes('own-view'))
  })
}

test('binds of the host are read-only, without devices and without set-uid', () => {
  const readOnlyNoSuidNoDevices = 1 | 2 | 4
  const readOnlyNoSuidNoExecute = 1 | 2 | 8
  for (const { path, attributes } of recordsOf(planExample(ownGround), 'open-tree')) {
    assert.equal(
      attributes,
      path.startsWith('/dev/') ? readOnlyNoSuidNoExecute : readOnlyNoSuidNoDevices,
      path,
    )
  }
})

test('writable mounts are bounded in bytes and files, without devices and set-uid', () => {
  const mounts = recordsOf(planExample(ownGround, { diskBytes: 16 * 1024 * 1024 }), 'mount').filter(
    ({ type }) => type === 'tmpfs',
  )
  assert.deepEqual(
    mounts.map(({ path, options, flags }) => ({ path, options, isInert: (flags & 6) === 6 })),
    [
      { path: 'dev/shm', options: 'mode=1777,size=16777216,nr_inodes=2048', isInert: true },
      { path: 'tmp', options: 'mode=1777,size=16777216,nr_inodes=2048', isInert: true },
      {
        path: 'workspace',
        options: 'mode=0755,uid=1000,gid=1000,size=16777216,nr_inodes=2048',
        isInert: true,
      },
    ],
  )
})

test('the whole root becomes read-only, and the parts of /proc about the machine are masked', () => {
  const plan = planExample(ownGround)
  assert.deepEqual(
    recordsOf(plan, 'set-attributes').map(({ path, attributes }) => [path, attributes & 1]),
    [['/', 1]],
  )
  const closed: string[] = [...recordsOf(plan, 'read-only'), ...recordsOf(plan, 'mask')].map(
    ({ path }) => path,
  )
  for (const path of ['/proc/sys', '/proc/sysrq-trigger', '/proc/kcore', '/proc/keys', '/proc/timer_list'])
    assert.ok(closed.includes(path), path)
})

test('no mount shows the host’s /sys, /etc, /home or /root', () => {
  const shown = mountPoints(planExample(ownGround))
  for (const path of ['/sys', '/etc', '/home', '/root', '/var', '/run'])
    assert.ok(!shown.includes(path), path)
})
