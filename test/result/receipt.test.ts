import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import { limitMechanisms, writeReceipt } from '../../src/result/receipt.ts'

const facts = {
  start: 'cold',
  runtime: 'bun',
  protection: 'strong',
  limits: defaultLimits,
  clamped: ['wallMs'],
  cgroupVersion: 1,
} as const
const seen = { layers: ['seccomp'], observed: { Seccomp: '2' } }

test('a receipt hands on what was observed and names every limit with its value', () => {
  const receipt = writeReceipt(facts, seen)
  const { limits, ...rest } = receipt
  assert.deepEqual(rest, {
    start: 'cold',
    runtime: 'bun',
    protection: 'strong',
    clamped: ['wallMs'],
    ...seen,
  })
  assert.deepEqual(
    Object.fromEntries(Object.entries(limits).map(([name, { value }]) => [name, value])),
    defaultLimits,
  )
})

test('a limit that nobody set is held by nothing, and every other by something', () => {
  const { limits } = writeReceipt(facts, seen)
  assert.deepEqual(
    Object.entries(limits)
      .filter(([, { by }]) => by === 'none')
      .map(([name]) => name),
    ['cpuMs', 'functionMs'],
  )
  assert.equal(
    writeReceipt({ ...facts, limits: { ...defaultLimits, cpuMs: 1 } }, seen).limits.cpuMs.by,
    'cgroup',
  )
})

test('without cgroups a receipt says watchdog and rlimit where it would have said cgroup', () => {
  const [held, alone] = [
    limitMechanisms({ cgroupVersion: 2, level: 'strong', identity: 'own' }),
    limitMechanisms({ cgroupVersion: null, level: 'standard', identity: 'shared' }),
  ]
  const different = Object.keys(held).filter((name) => held[name as 'wallMs'] !== alone[name as 'wallMs'])
  assert.deepEqual(
    different.map((name) => [name, held[name as 'wallMs'], alone[name as 'wallMs']]),
    [
      ['cpuMs', 'cgroup', 'watchdog'],
      ['memoryBytes', 'cgroup', 'watchdog'],
      ['processesMax', 'cgroup', 'rlimit'],
    ],
  )
})

test('without a file system of its own, a run’s disk is held by the watchdog', () => {
  assert.equal(
    limitMechanisms({ cgroupVersion: 1, level: 'restricted', identity: 'shared' }).diskBytes,
    'watchdog',
  )
  assert.equal(limitMechanisms({ cgroupVersion: 1, level: 'strong', identity: 'own' }).diskBytes, 'tmpfs')
})

test('processes that the kernel counts with those of the service are held by the watchdog', () => {
  const heldBy = (level: 'standard' | 'restricted', identity: 'own' | 'shared') =>
    limitMechanisms({ cgroupVersion: null, level, identity }).processesMax
  assert.equal(heldBy('restricted', 'shared'), 'watchdog')
  assert.equal(heldBy('restricted', 'own'), 'rlimit')
  assert.equal(heldBy('standard', 'shared'), 'rlimit')
})
