import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listAssignedPorts } from '../../../src/jail/machine/assigned-ports.ts'

const ports = [8080, 8888, 32_767, 32_768, 40_000, 60_999, 61_000]

test('ports in the kernel’s range are assigned, including both ends', () => {
  const settings = { range: '32768\t60999\n', reserved: '\n' }
  assert.deepEqual(listAssignedPorts(ports, settings), [32_768, 40_000, 60_999])
})

test('reserved ports are not assigned', () => {
  const settings = { range: '1024 65535', reserved: '8080,32767-32768,60999-61000\n' }
  assert.deepEqual(listAssignedPorts(ports, settings), [8888, 40_000])
})
