/** The table of layers, and the page that is generated from it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { layerRows } from '../../../src/jail/layers/layer-rows.ts'
import {
  describeLayers,
  layersOf,
  namesOfStanding,
  outlineOf,
  promisesOf,
} from '../../../src/jail/layers/layers.ts'
import { planFamily, planSpace } from '../../../src/jail/plan/plan-family.ts'
import { planSandboxSpace } from '../../../src/jail/plan/plan-sandbox.ts'
import type { CellPlan } from '../../../src/jail/plan/plan.ts'
import { rowsBelow } from '../../support/pages/page-tables.ts'
import { readStatus } from '../../../src/runtimes/work/observed.ts'
import {
  exampleShape,
  facts,
  ownGround,
  planExample,
  planRestrictedExample,
  sharedGround,
} from '../cell/example-cell.ts'

const plans = {
  strong: planExample(ownGround),
  standard: planExample(sharedGround),
  restricted: planRestrictedExample(sharedGround),
}

test('each layer is missing if the records that build it are missing', () => {
  for (const plan of Object.values(plans)) {
    for (const { name, isBuiltBy } of layerRows.filter((row) => plan.layers.includes(row.name))) {
      const kinds = new Set(plan.records.map((record) => record.do))
      const needed = [...kinds].filter(
        (kind) => !isBuiltBy(outlineOf(plan.records.filter((record) => record.do !== kind))),
      )
      assert.notDeepEqual(needed, [], name)
    }
  }
  assert.deepEqual(layersOf([]), [])
})

test('every layer exists at some level, and has a unique name', () => {
  const standing = new Set(Object.values(plans).flatMap(({ layers }) => layers))
  assert.deepEqual(
    layerRows.map(({ name }) => name).filter((name) => !standing.has(name)),
    [],
  )
  assert.equal(new Set(layerRows.map(({ name }) => name)).size, layerRows.length)
})

test('a host folder that is shown without own inodes removes the layer of the own view', () => {
  const { layers } = planExample({
    ...ownGround,
    hostView: { ...ownGround.hostView, refusedLowers: ['/'] },
  })
  assert.ok(!layers.includes('own-view'))
})

test('a space has all layers of a cell, some of them from the cell that it lies in', () => {
  const parts = { name: 'f', secret: Buffer.alloc(32), argv: [], env: {}, folder: '/' }
  for (const ground of [ownGround, sharedGround]) {
    const family = planFamily(exampleShape, ground, {
      family: { ...parts, cgroupFolders: ground.cgroupJoins },
      facts,
    })
    const inside = { ...ground, guest: 0, cgroupJoins: ground.cgroupJoins.map(() => 'cell-1/tasks') }
    const layersIn = (plan: CellPlan) => plan.layers
    for (const isForked of [true, false])
      assert.deepEqual(
        layersIn(planSpace(exampleShape, { ...inside, around: family.layers }, { isForked })),
        planExample(ground).layers,
      )
    const alone = planSpace(exampleShape, inside, { isForked: true }).layers
    assert.ok(!alone.includes('user-namespace') && !alone.includes('own-view'))
    // The cgroups of a sandbox's guests are siblings of its control space's.
    const command = planSandboxSpace(exampleShape, { ...inside, around: family.layers }, 'user').layers
    assert.deepEqual(
      planExample(ground).layers.filter((layer) => !command.includes(layer)),
      ['cgroup-namespace'],
    )
  }
})

test('what layers promise about a guest is read from its status, and reported', () => {
  for (const plan of Object.values(plans)) {
    const promised = promisesOf(plan.layers)
    const status = Object.entries(promised).map(([name, value]) => `${name}:\t${value}`)
    assert.deepEqual(readStatus(['Name:\tx', ...status].join('\n')), promised)
    assert.deepEqual({ ...plan.promises, ...promised }, plan.promises)
    assert.ok(Object.keys(promised).length >= 4)
  }
})

test('Landlock is named with the kernel’s version of it, and nothing else changes its name', () => {
  const { layers } = plans.strong
  const named = namesOfStanding(layers, { landlock_abi: '7' })
  assert.deepEqual(
    named.filter((name) => !layers.includes(name)),
    ['landlock-7'],
  )
})

test('doctor reports ok for a machine with every layer', () => {
  const { layers, promises } = plans.strong
  const links = ['user', 'pid', 'mnt', 'net', 'ipc', 'uts', 'cgroup']
  const seen = {
    layers: namesOfStanding(layers, { landlock_abi: '6' }),
    observed: { ...promises, ...Object.fromEntries(links.map((link) => [`ns_${link}`, 'inside'])) },
    hostNamespaces: Object.fromEntries(links.map((link) => [link, 'outside'])),
    identity: 'own',
    cgroupVersion: 2,
    cgroupRoad: 'scope',
    cgroupReason: '',
    refusedLowers: [],
    mountedOver: [],
    around: {} as Parameters<typeof describeLayers>[0]['around'],
  } as const
  assert.deepEqual(
    describeLayers(seen).filter(({ state }) => state !== 'ok'),
    [],
  )
  const blind = describeLayers({ ...seen, observed: {} }).filter(({ state }) => state === 'missing')
  const names = blind.map(({ name }) => name)
  assert.equal(names.filter((name) => name.endsWith(' namespace')).length, links.length)
  assert.ok(names.includes('seccomp') && names.includes('capabilities'), names.join())
})

test('docs/internals/layers.md has the table', () => {
  const stands = (plan: CellPlan, name: string) => (plan.layers.includes(name) ? 'yes' : '—')
  const expected = layerRows.map(({ name, stops }) => {
    const levels = Object.values(plans).map((plan) => stands(plan, name))
    return `| ${[`\`${name}\``, stops, ...levels].join(' | ')} |`
  })
  assert.deepEqual(rowsBelow('docs/internals/layers.md', 'Layers'), expected)
})
