import assert from 'node:assert/strict'
import { test } from 'node:test'

import { defaultLimits } from '../../src/core/limits.ts'
import type { Limits } from '../../src/core/limits.ts'
import { planRlimits } from '../../src/jail/rlimits.ts'
import type { RlimitGround } from '../../src/jail/rlimits.ts'
import { readEnums, readSource } from './c-source.ts'

// Source: asm-generic/resource.h.
const numbers = { cpu: 0, fileSize: 1, data: 2, core: 4, processes: 6, openFiles: 7, addressSpace: 9 }
const ground: RlimitGround = {
  identity: 'own',
  memoryHeldByCgroup: true,
  isPid1Counted: true,
  runtimeDataBytes: 1000,
  openFilesHard: 1_000_000,
}

function planned(
  limits: Partial<Limits>,
  more: Partial<RlimitGround> = {},
): Map<number, { soft: number; hard: number }> {
  const plan = planRlimits({ ...defaultLimits, ...limits }, { ...ground, ...more })
  return new Map(plan.map(({ resource, soft, hard }) => [resource, { soft, hard }]))
}

test('core dumps are off, and not at 0, which would start a handler of the host’s; files, sizes and descriptors bounded, always', () => {
  const plan = planned({ diskBytes: 4096, openFilesMax: 32 })
  assert.deepEqual(plan.get(numbers.core), { soft: 1, hard: 1 })
  assert.deepEqual(plan.get(numbers.fileSize), { soft: 4096, hard: 4096 })
  assert.deepEqual(plan.get(numbers.openFiles), { soft: 32, hard: 32 })
})

test('no guest gets more descriptors than the host itself may have', () => {
  assert.equal(planned({ openFilesMax: 5000 }, { openFilesHard: 1024 }).get(numbers.openFiles)?.hard, 1024)
})

test('address space is never limited, because engines reserve far more than they use', () => {
  for (const memoryHeldByCgroup of [true, false])
    assert.equal(planned({}, { memoryHeldByCgroup }).get(numbers.addressSpace), undefined)
})

test('data is limited only where no cgroup holds memory, and above the runtime’s own needs', () => {
  assert.equal(planned({ memoryBytes: 5000 }).get(numbers.data), undefined)
  const { hard = 0 } = planned({ memoryBytes: 5000 }, { memoryHeldByCgroup: false }).get(numbers.data) ?? {}
  assert.ok(hard >= 6000)
})

test('where a cgroup counts processes, the rlimit stands behind it', () => {
  assert.ok(Number(planned({ processesMax: 10 }).get(numbers.processes)?.hard) > 10)
  assert.equal(planned({ processesMax: 10 }, { memoryHeldByCgroup: false }).get(numbers.processes)?.hard, 10)
  // Pid 1 has the guests' uid there.
  assert.equal(
    planned({ processesMax: 10 }, { memoryHeldByCgroup: false, identity: 'shared' }).get(numbers.processes)
      ?.hard,
    11,
  )
})

test('processor time has a backstop above its limit, soft before hard, and none without a limit', () => {
  assert.equal(planned({ cpuMs: null }).get(numbers.cpu), undefined)
  for (const cpuMs of [1, 999, 1000, 1001, 60_000]) {
    const { soft = 0, hard = 0 } = planned({ cpuMs }).get(numbers.cpu) ?? {}
    assert.ok(soft * 1000 > cpuMs && hard > soft, `${cpuMs}: ${soft}, ${hard}`)
  }
})

test('no plan has more rlimits than the launcher’s table holds', () => {
  const { RLIMITS_MAX } = readEnums(readSource('cell.h'))
  const { size } = planned({ cpuMs: 1000 }, { memoryHeldByCgroup: false })
  assert.ok(size <= Number(RLIMITS_MAX))
})
