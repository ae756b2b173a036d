import assert from 'node:assert/strict'
import { test } from 'node:test'

import { cellNamespaces, cgroupNamespace } from '../../../src/jail/plan/namespaces.ts'

// Source: linux/sched.h.
const flags = {
  NEWNS: 0x20000,
  NEWCGROUP: 0x2000000,
  NEWUTS: 0x4000000,
  NEWIPC: 0x8000000,
  NEWUSER: 0x10000000,
  NEWPID: 0x20000000,
  NEWNET: 0x40000000,
}
const { NEWCGROUP, ...atClone } = flags

test('a cell has namespaces of its own for everything, the cgroup’s taken after it joined', () => {
  const everything = Object.values(atClone).reduce((sum, flag) => sum + flag, 0)
  assert.equal(cellNamespaces('none'), everything)
  assert.equal(cgroupNamespace, NEWCGROUP)
})

test('a cell that shares the host’s network differs in that alone', () => {
  assert.equal(cellNamespaces('none') - cellNamespaces('host'), flags.NEWNET)
})
