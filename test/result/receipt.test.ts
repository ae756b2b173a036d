import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import { heldBy } from '../../src/jail/limits/plan-limits.ts'
import { writeReceipt } from '../../src/result/receipt.ts'

const facts = {
  start: 'cold',
  runtime: 'bun',
  protection: 'strong',
  limits: defaultLimits,
  clamped: ['wallMs'],
} as const
const ground = { level: 'strong', cgroupVersion: 1, identity: 'own' } as const
const held = heldBy(defaultLimits, ground)
const seen = { layers: ['seccomp'], observed: { Seccomp: '2' } }

test('a receipt repeats what was observed and names every limit with its value', () => {
  const receipt = writeReceipt(facts, { ...seen, heldBy: held })
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

test('a receipt names what enforced each limit, as it was given', () => {
  const odd = { ...held, memoryBytes: 'tmpfs', wallMs: 'none' } as const
  const { limits } = writeReceipt(facts, { ...seen, heldBy: odd })
  assert.deepEqual(Object.fromEntries(Object.entries(limits).map(([name, { by }]) => [name, by])), odd)
})

test('nothing enforces an unset limit, and something enforces every other limit', () => {
  const { limits } = writeReceipt(facts, { ...seen, heldBy: held })
  assert.deepEqual(
    Object.entries(limits)
      .filter(([, { by }]) => by === 'none')
      .map(([name]) => name),
    ['cpuMs', 'functionMs'],
  )
  const one = { ...defaultLimits, cpuMs: 1 }
  const receipt = writeReceipt({ ...facts, limits: one }, { ...seen, heldBy: heldBy(one, ground) })
  assert.equal(receipt.limits.cpuMs.by, 'cgroup')
})
