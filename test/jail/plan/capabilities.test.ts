import assert from 'node:assert/strict'
import { test } from 'node:test'

import { capabilitiesOfPid1 } from '../../../src/jail/plan/capabilities.ts'

/** Numbers of linux/capability.h. */
function listCapabilities(mask: bigint): number[] {
  return Array.from({ length: 64 }, (_, number) => number).filter(
    (number) => (mask & (1n << BigInt(number))) !== 0n,
  )
}

test('pid 1 of an ordinary user’s cell keeps only the capabilities for network, chroot and mounts', () => {
  assert.deepEqual(listCapabilities(capabilitiesOfPid1('shared')), [12, 18, 21])
})

test('pid 1 of root’s cell can also change ids and end guests of another uid', () => {
  assert.deepEqual(listCapabilities(capabilitiesOfPid1('own')), [5, 6, 7, 12, 18, 21])
})
