import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import { limitMechanisms, writeReceipt } from '../../src/result/receipt.ts'

const facts = {
  runtime: 'bun',
  protection: 'strong',
  limits: defaultLimits,
  clamped: ['wallMs'],
  heldByCgroup: true,
} as const
const seen = { layers: ['seccomp'], observed: { Seccomp: '2' } }

test('a receipt hands on what was observed and names every limit with its value', () => {
  const receipt = writeReceipt(facts, seen)
  const { limits, ...rest } = receipt
  assert.deepEqual(rest, { runtime: 'bun', protection: 'strong', clamped: ['wallMs'], ...seen })
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
  const [held, alone] = [limitMechanisms(true), limitMechanisms(false)]
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
