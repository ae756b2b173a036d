import assert from 'node:assert/strict'
import { test } from 'node:test'

import { planLandlock } from '../../../src/jail/plan/landlock.ts'

// Source: linux/landlock.h.
const readFile = 1 << 2
const changing =
  (1 << 1) |
  (1 << 4) |
  (1 << 5) |
  (1 << 6) |
  (1 << 7) |
  (1 << 8) |
  (1 << 9) |
  (1 << 10) |
  (1 << 11) |
  (1 << 12) |
  (1 << 13) |
  (1 << 14)
const { rules, rulesets } = planLandlock(['/usr', '/data'])
const allowedAt = (path: string): number => rules.find((rule) => rule.path === path)?.allowed ?? 0

test('readable folders can be read and executed and not changed', () => {
  for (const path of ['/usr', '/data']) {
    assert.equal(allowedAt(path) & changing, 0, path)
    assert.equal(allowedAt(path) & readFile, readFile, path)
  }
})

test('the root can be listed and nothing in it read', () => {
  assert.equal(allowedAt('/'), 1 << 3)
})

test('only our own tmpfs mounts can be changed freely', () => {
  const writable = rules.filter(({ allowed }) => (allowed & (1 << 8)) !== 0).map(({ path }) => path)
  assert.deepEqual(writable, ['/dev/shm', '/tmp', '/workspace'])
})

test('/dev/zero cannot be opened for writing, because shared it is memory that nothing counts', () => {
  assert.equal(allowedAt('/dev/zero') & (1 << 1), 0)
})

test('rulesets go from the newest ABI to the first, and an older one handles no right that it does not know', () => {
  const abis = rulesets.map(({ abi }) => abi)
  assert.deepEqual(
    abis,
    abis.toSorted((a, b) => b - a),
  )
  assert.equal(abis.at(-1), 1)
  const newestRight = new Map([
    [1, 12],
    [2, 13],
    [3, 14],
    [4, 14],
    [5, 15],
    [6, 15],
  ])
  for (const { abi, handledFiles, scoped, attributeBytes } of rulesets) {
    assert.equal(handledFiles, 2 ** (Number(newestRight.get(abi)) + 1) - 1, `ABI ${abi}`)
    assert.equal(scoped, abi >= 6 ? 3 : 0)
    assert.equal(attributeBytes, abi >= 6 ? 24 : abi >= 4 ? 16 : 8)
  }
})
