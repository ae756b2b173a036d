/** The limits of a sandbox: as requested, as the machine allows, and consistent with each other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'

import { LazaretError } from '../../src/core/errors/errors.ts'
import { passingBytes, sharedMemoryRoom } from '../../src/jail/limits/disk.ts'
import { filesIn, memoryFor, resolveSandboxLimits } from '../../src/policy/sandbox-limits.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

test('four sandboxes fit by default into the available memory, or as many as fit with a gibibyte each', () => {
  const memoryOf = (memoryTotalBytes: number) =>
    resolveSandboxLimits({}, { machine: { memoryTotalBytes } }).limits.memoryBytes
  assert.equal(memoryOf(64 * GiB), 3 * GiB)
  assert.equal(memoryOf(12 * GiB), 3 * GiB)
  assert.equal(memoryOf(8 * GiB), 2 * GiB)
  assert.equal(memoryOf(5 * GiB + 900 * MiB), 1280 * MiB)
  assert.equal(memoryOf(2 * GiB), GiB)
})

test('with less memory fewer files fit, and this is reported', () => {
  const { limits, clamps } = resolveSandboxLimits({}, { machine: { memoryTotalBytes: 8 * GiB } })
  assert.equal(limits.diskBytes, GiB)
  assert.deepEqual(clamps, [{ limit: 'diskBytes', wanted: 2 * GiB, held: GiB, of: 'default', by: 'memory' }])
})

test('a request for more files gets the memory for them, within the ceiling', () => {
  const asked = { diskBytes: 6 * GiB }
  assert.equal(resolveSandboxLimits(asked).limits.memoryBytes, 7 * GiB)
  const { limits, clamped } = resolveSandboxLimits(asked, { ceilings: { memoryBytes: 4 * GiB } })
  assert.deepEqual([limits.memoryBytes, limits.diskBytes, clamped], [4 * GiB, 3 * GiB, ['diskBytes']])
  const { limits: small } = resolveSandboxLimits({ diskBytes: MiB }, { defaults: { memoryBytes: 64 * MiB } })
  assert.deepEqual([small.memoryBytes, small.diskBytes], [64 * MiB, MiB])
})

test('more files than fit into the given memory are refused', () => {
  const refused = { code: 'INVALID_REQUEST', message: /memoryBytes of 1073741824 files may take 536870912/ }
  assert.throws(
    () => resolveSandboxLimits({ memoryBytes: GiB, diskBytes: GiB }),
    (error) =>
      error instanceof LazaretError && error.code === refused.code && refused.message.test(error.message),
  )
})

test('for any memory, full disks leave enough for the command that removes the files', () => {
  fc.assert(
    fc.property(fc.integer({ min: 64 * MiB, max: 2 ** 44 }), (memoryBytes) => {
      const diskBytes = filesIn(memoryBytes)
      const passing = passingBytes(diskBytes)
      const files = diskBytes + passing + sharedMemoryRoom(passing).bytesMax
      assert.ok(memoryBytes - files >= Math.min(memoryBytes / 4, 400 * MiB), `${memoryBytes - files}`)
      assert.ok(memoryFor(diskBytes) <= memoryBytes + 1 && filesIn(memoryFor(diskBytes)) >= diskBytes)
    }),
  )
})

test('no process can have more open files than the service may', () => {
  const machine = { openFilesHard: 4096 }
  assert.deepEqual(resolveSandboxLimits({}, { machine }).clamps, [])
  const { limits, clamps } = resolveSandboxLimits({ openFilesMax: 10_000 }, { machine })
  assert.equal(limits.openFilesMax, 4096)
  assert.deepEqual(clamps, [
    { limit: 'openFilesMax', wanted: 10_000, held: 4096, of: 'request', by: 'machine' },
  ])
})
