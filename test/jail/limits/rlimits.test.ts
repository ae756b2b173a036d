import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../../src/core/limits.ts'
import type { Limits } from '../../../src/core/limits.ts'
import type { LimitFigures, LimitGround } from '../../../src/jail/limits/limit-rows.ts'
import { planLimits } from '../../../src/jail/limits/plan-limits.ts'
import { readNumbers } from '../launch/c-source.ts'

// Source: asm-generic/resource.h.
const numbers = { cpu: 0, fileSize: 1, data: 2, core: 4, processes: 6, openFiles: 7, addressSpace: 9 }
const figures: LimitFigures = {
  runtimeDataBytes: 1000,
  openFilesHard: 1_000_000,
  processesHard: 1_000_000,
  tcpMem: '',
}
const held: LimitGround = { level: 'strong', cgroupVersion: 1, identity: 'own' }
const alone: LimitGround = { level: 'standard', cgroupVersion: null, identity: 'own' }

function planned(
  limits: Partial<Limits>,
  ground: LimitGround = held,
  more: Partial<LimitFigures> = {},
): Map<number, { soft: number; hard: number }> {
  const { rlimits } = planLimits({ ...defaultLimits, ...limits }, ground, { ...figures, ...more })
  return new Map(rlimits.map(({ resource, soft, hard }) => [resource, { soft, hard }]))
}

test('core dumps are off, but not with 0, which would start a handler of the host; other rlimits are always set', () => {
  const plan = planned({ diskBytes: 4096, openFilesMax: 32 })
  assert.deepEqual(plan.get(numbers.core), { soft: 1, hard: 1 })
  assert.deepEqual(plan.get(numbers.fileSize), { soft: 4096, hard: 4096 })
  assert.deepEqual(plan.get(numbers.openFiles), { soft: 32, hard: 32 })
})

test('no guest gets more descriptors than the host itself may have', () => {
  assert.equal(
    planned({ openFilesMax: 5000 }, held, { openFilesHard: 1024 }).get(numbers.openFiles)?.hard,
    1024,
  )
})

test('address space is never limited, because engines reserve far more than they use', () => {
  for (const ground of [held, alone]) assert.equal(planned({}, ground).get(numbers.addressSpace), undefined)
})

test('data is limited only where no cgroup limits memory, and above the runtime’s own needs', () => {
  assert.equal(planned({ memoryBytes: 5000 }).get(numbers.data), undefined)
  const { hard = 0 } = planned({ memoryBytes: 5000 }, alone).get(numbers.data) ?? {}
  assert.ok(hard >= 6000)
})

test('where a cgroup counts processes, the rlimit is the fallback', () => {
  assert.ok(Number(planned({ processesMax: 10 }).get(numbers.processes)?.hard) > 10)
  assert.equal(planned({ processesMax: 10 }, alone).get(numbers.processes)?.hard, 10)
  // Pid 1 has the guests' uid in that case.
  assert.equal(
    planned({ processesMax: 10 }, { ...alone, identity: 'shared' }).get(numbers.processes)?.hard,
    11,
  )
})

test('where the kernel counts guests together with other processes, the rlimit includes those', () => {
  const neighbours = 8192
  const inSpace = { ...alone, identity: 'shared', isInSpace: true } as const
  assert.ok(Number(planned({ processesMax: 10 }, inSpace).get(numbers.processes)?.hard) > neighbours)
  assert.equal(planned({}, inSpace, { processesHard: 300 }).get(numbers.processes)?.hard, 300)
  const plan = (ground: LimitGround) =>
    planLimits(defaultLimits, ground, figures).rlimits.filter(({ isBesideOthers }) => isBesideOthers)
  // Without a user namespace all processes of its user count, and only the cell can count those.
  assert.deepEqual(
    plan({ ...inSpace, level: 'restricted', isInSpace: false }).map(({ resource }) => resource),
    [numbers.processes],
  )
  assert.deepEqual(plan(inSpace), [])
})

test('processor time has a backstop above its limit, soft before hard, and none without a limit', () => {
  assert.equal(planned({ cpuMs: null }).get(numbers.cpu), undefined)
  for (const cpuMs of [1, 999, 1000, 1001, 60_000]) {
    const { soft = 0, hard = 0 } = planned({ cpuMs }).get(numbers.cpu) ?? {}
    assert.ok(soft * 1000 > cpuMs && hard > soft, `${cpuMs}: ${soft}, ${hard}`)
  }
})

test('no plan has more rlimits than the launcher’s table holds', () => {
  const { RLIMITS_MAX } = readNumbers()
  const { size } = planned({ cpuMs: 1000 }, alone)
  assert.ok(size <= Number(RLIMITS_MAX))
})
