import assert from 'node:assert/strict'
import { test } from 'node:test'

import { encodePlan } from '../../../src/jail/plan/plan-records.ts'
import type { PlanRecord } from '../../../src/jail/plan/plan-records.ts'
import { planFamily, planSpace } from '../../../src/jail/plan/plan-family.ts'
import type { CellPlan } from '../../../src/jail/plan/plan.ts'
import { seccompProgram } from '../../../src/jail/seccomp/program.ts'
import type { CellGround } from '../../../src/jail/plan/shape.ts'
import { exampleShape, facts, ownGround, recordsOf, sharedGround } from '../cell/example-cell.ts'

const grounds = { 'by root': ownGround, 'by a user': sharedGround }
const shape = { ...exampleShape, guests: 31 }

function family(ground: CellGround): CellPlan {
  const cgroupFolders = ground.cgroupJoins.map((_, index) => `/sys/fs/cgroup/${index}/lazaret`)
  const secret = Buffer.alloc(32, 7)
  const parts = {
    name: 'lazaret-family-1',
    secret,
    cgroupFolders,
    argv: ['/usr/bin/python3'],
    env: { A: 'b' },
    folder: '/workspace',
  }
  return planFamily(shape, ground, { family: parts, facts })
}

function space(ground: CellGround, guest = 3, isForked = true): CellPlan {
  const cgroupJoins = ground.cgroupJoins.map(() => 'cell-5/tasks')
  return planSpace(shape, { ...ground, guest, cgroupJoins }, { isForked })
}

const names = (plan: CellPlan) => plan.records.map((record) => record.do)

function outline(plan: CellPlan): string[] {
  return names(plan).filter((name, index, all) => name !== all[index - 1])
}

for (const [who, ground] of Object.entries(grounds)) {
  test(`started ${who}, a family opens its socket and its folders before it enters its namespaces`, () => {
    const all = names(family(ground))
    assert.ok(all.indexOf('listen') < all.indexOf('clone'))
    assert.ok(all.lastIndexOf('open-folder') < all.indexOf('clone'))
    assert.equal(all.at(-1), 'family')
    assert.ok(all.includes('root-guard'), 'its spaces are born in it')
    assert.ok(!all.includes('guest-landlock'), 'its forks would inherit it')
  })

  test(`started ${who}, every slot of a family and of a space is opened once`, () => {
    for (const plan of [family(ground), space(ground)]) {
      const filled = (['open-tree', 'open-write', 'open-folder', 'open-at', 'listen'] as const).flatMap(
        (name) => recordsOf(plan, name).map(({ slot }) => slot),
      )
      assert.equal(new Set(filled).size, filled.length)
    }
  })

  test(`started ${who}, a family has its own user namespace, and a space uses that of its family`, () => {
    const newUser = 0x1000_0000
    const flags = (plan: CellPlan) =>
      plan.records.flatMap((record) => (record.do === 'clone' ? record.flags : []))[0] ?? 0
    assert.notEqual(flags(family(ground)) & newUser, 0)
    assert.equal(flags(space(ground)) & newUser, 0)
    assert.equal(flags(space(ground)) | newUser, flags(family(ground)))
  })

  test(`started ${who}, a space makes its own mounts, and then masks parts of /proc`, () => {
    const expected = [
      ...(ground.cgroupJoins.length > 0 ? ['open-at'] : []),
      'clone',
      ...(ground.cgroupJoins.length > 0 ? ['join', 'guest-join'] : []),
      'guard',
      'unshare',
      'mount',
      'setting',
      'count-locks',
      'read-only',
      'mask',
      'loopback',
      'hostname',
      ...(ground.identity.kind === 'own' ? ['guest-ids'] : []),
      'guest-landlock',
      'guest-filter',
      'forks',
      'keep-capabilities',
      'serve',
    ]
    assert.deepEqual(outline(space(ground)), expected)
    const mounted = recordsOf(space(ground), 'mount').map(({ type, path }) => `${type} ${path}`)
    assert.deepEqual(mounted, [
      'devpts /dev/pts',
      'proc /proc',
      'tmpfs /dev/shm',
      'tmpfs /tmp',
      'tmpfs /workspace',
    ])
  })

  test(`started ${who}, a space whose guest is started asks no zygote, and its pid 1 alone joins the cgroup`, () => {
    const forked = outline(space(ground))
    const started = outline(space(ground, 3, false))
    assert.deepEqual(
      forked.filter((name) => !started.includes(name)),
      [...(ground.cgroupJoins.length > 0 ? ['guest-join'] : []), 'forks'],
    )
    assert.deepEqual(
      started,
      forked.filter((name) => name !== 'guest-join' && name !== 'forks'),
    )
  })

  test(`started ${who}, a template masks nothing and mounts nothing writable, because each space does`, () => {
    const template = planFamily({ ...shape, isTemplate: true }, ground, {
      family: { name: 'f', secret: Buffer.alloc(32), cgroupFolders: [], argv: [], env: {}, folder: '/' },
      facts,
    })
    const mounted = (plan: CellPlan) => recordsOf(plan, 'mount').map(({ path }) => path)
    assert.deepEqual(mounted(template), ['proc'])
    assert.ok(mounted(family(ground)).includes('workspace'))
    assert.ok(!names(template).includes('mask') && names(family(ground)).includes('mask'))
    assert.deepEqual(template.layers, family(ground).layers)
  })

  test(`started ${who}, the same shape and ground give the same bytes`, () => {
    assert.deepEqual(encodePlan(structuredClone(family(ground).records)), encodePlan(family(ground).records))
    assert.deepEqual(encodePlan(structuredClone(space(ground).records)), encodePlan(space(ground).records))
  })
}

test('each guest of a family that root started has an id of its own, and finds itself by name', () => {
  const owner = (guest: number) =>
    space(ownGround, guest).records.flatMap((record) => (record.do === 'guest-ids' ? record.uid : []))[0]
  assert.deepEqual([0, 1, 30].map(owner), [1000, 1001, 1030])
  const [map] = recordsOf(family(ownGround), 'id-maps')
  assert.equal(map?.uidMap, '0 2000000000 1\n1000 2000000001 31\n')
  const isUsers = (record: PlanRecord) => record.do === 'file' && record.path === 'etc/passwd'
  const users = family(ownGround).records.find(isUsers)
  assert.match(users?.do === 'file' ? String(users.content) : '', /^guest:x:1030:1030:guest:\/workspace:/m)
  const [, , , , workspace] = recordsOf(space(ownGround, 7), 'mount')
  assert.match(workspace?.options ?? '', /uid=1007,gid=1007/)
})

test('guests of a family that a user started share the one id that there is', () => {
  assert.ok(!names(space(sharedGround, 5)).includes('guest-ids'))
  assert.equal(recordsOf(family(sharedGround), 'id-maps')[0]?.uidMap, '1000 1234 1')
})

test('the filter of a zygote refuses what a guest’s does, except the calls for entering a space', () => {
  const options = { architecture: 'x64', memoryHeldByCgroup: true } as const
  const [own] = recordsOf(family(ownGround), 'guest-filter')
  assert.notDeepEqual(own?.program, seccompProgram(options))
  assert.deepEqual(own?.program, seccompProgram({ ...options, entersSpaces: true }))
  assert.deepEqual(recordsOf(space(ownGround), 'guest-filter')[0]?.program, seccompProgram(options))
})
