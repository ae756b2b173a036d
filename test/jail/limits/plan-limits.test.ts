import assert from 'node:assert/strict'
import { test } from 'node:test'

import { limitMechanisms } from '../../../src/jail/limits/plan-limits.ts'

test('without cgroups a receipt names watchdog and rlimit instead of cgroup', () => {
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

test('without its own file system, a run’s disk limit is enforced by the watchdog', () => {
  assert.equal(
    limitMechanisms({ cgroupVersion: 1, level: 'restricted', identity: 'shared' }).diskBytes,
    'watchdog',
  )
  assert.equal(limitMechanisms({ cgroupVersion: 1, level: 'strong', identity: 'own' }).diskBytes, 'tmpfs')
})

test('the watchdog limits processes that the kernel counts together with those of the service', () => {
  const heldBy = (level: 'standard' | 'restricted', identity: 'own' | 'shared', isInSpace = false) =>
    limitMechanisms({ cgroupVersion: null, level, identity, isInSpace }).processesMax
  assert.equal(heldBy('restricted', 'shared'), 'watchdog')
  assert.equal(heldBy('restricted', 'own'), 'rlimit')
  assert.equal(heldBy('standard', 'shared'), 'rlimit')
  // Forks of one interpreter share a count, too.
  assert.equal(heldBy('standard', 'shared', true), 'watchdog')
  assert.equal(heldBy('standard', 'own', true), 'rlimit')
  // So do the commands of a sandbox.
  const command = {
    cgroupVersion: null,
    level: 'standard',
    identity: 'own',
    isInSpace: true,
    sharesId: true,
  } as const
  assert.equal(limitMechanisms(command).processesMax, 'watchdog')
})

test('a snippet’s thread has no limits on processes, descriptors or files', () => {
  const { wallMs, memoryBytes, processesMax, hostMs } = limitMechanisms({
    level: 'wasm',
    cgroupVersion: null,
    identity: 'shared',
  })
  assert.deepEqual([wallMs, memoryBytes, processesMax, hostMs], ['host', 'wasm', 'wasm', 'host'])
})
