import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../../support/fast-check.ts'

import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { recordNames } from '../../../src/jail/plan/plan-records.ts'
import { readNumbers } from '../launch/c-source.ts'
import { exampleView, ownGround, planExample, recordsOf, sharedGround } from '../cell/example-cell.ts'

const grounds = { 'by root': ownGround, 'by a user': sharedGround }

/** The kinds of records in the order of the plan. Consecutive records of one kind count once. */
function outline(records: readonly PlanRecord[]): string[] {
  return records.map((record) => record.do).filter((name, index, all) => name !== all[index - 1])
}

const beforeMounts = ['guard', 'unshare', 'private']
const guardRoot = ['set-attributes', 'root-guard']
const afterGuard = ['count-locks', 'read-only', 'mask', 'loopback', 'hostname']
const guests = ['guest-landlock', 'guest-filter', 'keep-capabilities', 'serve']

test('started by root, a cell opens everything while it is root, then changes to its own uid', () => {
  const names = outline(planExample(ownGround).records)
  const head = [
    'open-write',
    'open-lower',
    'open-tree',
    'id-maps',
    'become',
    'clone',
    'join',
    'set-ids',
    ...beforeMounts,
    'root',
  ]
  assert.deepEqual(names.slice(0, head.length), head)
  const tail = ['pivot', ...guardRoot, 'setting', ...afterGuard, 'guest-ids', ...guests]
  assert.deepEqual(names.slice(-tail.length), tail)
})

test('started by a user, a cell opens the host’s files inside its own namespaces, where it is allowed to', () => {
  const names = outline(planExample(sharedGround).records)
  const head = ['id-maps', 'clone', ...beforeMounts, 'open-lower', 'open-tree', 'root']
  assert.deepEqual(names.slice(0, head.length), head)
  const tail = ['pivot', ...guardRoot, 'setting', ...afterGuard, ...guests]
  assert.deepEqual(names.slice(-tail.length), tail)
})

for (const [who, ground] of Object.entries(grounds)) {
  test(`started ${who}, the same shape and ground give the same plan`, () => {
    assert.deepEqual(planExample(ground), planExample(ground))
  })

  test(`started ${who}, a plan has every layer once and serves last`, () => {
    const plan = planExample(ground)
    for (const name of [
      'clone',
      'guard',
      'pivot',
      'root-guard',
      'guest-landlock',
      'guest-filter',
      'keep-capabilities',
      'serve',
    ] as const) {
      assert.equal(recordsOf(plan, name).length, 1, name)
    }
    assert.equal(plan.records.at(-1)?.do, 'serve')
    assert.ok((recordsOf(plan, 'guest-filter')[0]?.program.length ?? 0) > 100)
    assert.ok(plan.records.every((record) => recordNames.includes(record.do)))
  })

  test(`started ${who}, pid 1 dies with its stub only after its ids are set, because setresuid clears that`, () => {
    const names = planExample(ground).records.map((record) => record.do)
    assert.ok(names.indexOf('guard') > names.indexOf('clone'))
    assert.ok(names.indexOf('guard') > names.lastIndexOf('set-ids'))
    assert.ok(names.indexOf('guard') > names.lastIndexOf('become'))
  })

  test(`started ${who}, every slot is opened once and used once`, () => {
    const plan = planExample(ground)
    const fills = ['open-tree', 'open-lower', 'open-write'] as const
    const empties = ['bind', 'own-view', 'join'] as const
    const filled = fills.flatMap((name) => recordsOf(plan, name).map(({ slot }) => slot))
    const emptied = empties.flatMap((name) => recordsOf(plan, name).map(({ slot }) => slot))
    const sorted = (slots: readonly number[]) => slots.toSorted((a, b) => a - b)
    assert.deepEqual(sorted(filled), Array.from(filled.keys()))
    assert.deepEqual(sorted(emptied), sorted(filled))
  })

  test(`started ${who}, the largest set of readable folders that options allow fits the launcher’s tables`, () => {
    const bounds = readNumbers()
    const readable = Array.from({ length: 32 }, (_, index) => ({
      host: `/srv/${index}`,
      guest: `/data/${index}`,
    }))
    // The number that TypeScript needs, in addition to the operator's.
    const toolchain = Array.from({ length: 8 }, (_, index) => ({
      host: `/pkg/${index}`,
      guest: `/opt/lazaret/node_modules/${index}`,
    }))
    const hostView = {
      ...exampleView,
      folders: ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/lib32', '/libx32'],
      links: [],
      etc: [
        'alternatives',
        'ld.so.cache',
        'ssl/certs',
        'ssl/openssl.cnf',
        'mime.types',
        'magic',
        'python3',
        'python3.12',
      ].map((name) => `/etc/${name}`),
    }
    const plan = planExample({ ...ground, hostView }, { binds: [...readable, ...toolchain] })
    const opened = ['open-tree', 'open-lower', 'open-write'] as const
    const slots = opened.flatMap((name) => recordsOf(plan, name)).length
    assert.ok(slots <= Number(bounds['SLOTS_MAX']), `${slots} slots`)
    const rules = recordsOf(plan, 'guest-landlock')[0]?.policy.rules.length ?? 0
    assert.ok(rules <= Number(bounds['LANDLOCK_RULES_MAX']), `${rules} Landlock rules`)
  })
}

test('a user is seen as 1000 inside and never as 0', () => {
  assert.deepEqual(recordsOf(planExample(sharedGround), 'id-maps'), [
    { do: 'id-maps', uidMap: '1000 1234 1', gidMap: '1000 5678 1', denySetgroups: true },
  ])
  assert.deepEqual(recordsOf(planExample(sharedGround), 'guest-ids'), [])
})

test('a cell of root’s has two host ids of its own and guests that are not its pid 1’s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 4_000_000_000 }), (firstId) => {
      const plan = planExample({ ...ownGround, identity: { kind: 'own', firstId } })
      const map = `0 ${firstId} 1\n1000 ${firstId + 1} 1\n`
      assert.deepEqual(recordsOf(plan, 'id-maps'), [
        { do: 'id-maps', uidMap: map, gidMap: map, denySetgroups: false },
      ])
      assert.deepEqual(recordsOf(plan, 'become'), [{ do: 'become', uid: firstId, gid: firstId }])
      assert.deepEqual(recordsOf(plan, 'guest-ids'), [{ do: 'guest-ids', uid: 1000, gid: 1000 }])
    }),
  )
})

test('a cell that shares the host’s network brings up no loopback and names no network namespace', () => {
  const plan = planExample(ownGround, { network: 'host' })
  assert.deepEqual(recordsOf(plan, 'loopback'), [])
  assert.ok(!plan.layers.includes('network-namespace'))
  assert.ok(planExample(ownGround).layers.includes('network-namespace'))
})

test('layers are named only where records build them', () => {
  const only = ['own-uid', 'cgroup']
  assert.deepEqual(
    planExample(ownGround).layers.filter((layer) => !planExample(sharedGround).layers.includes(layer)),
    only,
  )
})
