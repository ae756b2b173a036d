/** Identifiers: the first ones of a process come from the kernel and later ones from OpenSSL. Both are UUIDs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'

const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

test('every identifier is a random UUID, and no two are alike', () => {
  const ids = Array.from({ length: 1000 }, () => systemClock.id())
  for (const id of ids) assert.match(id, version4)
  assert.equal(new Set(ids).size, ids.length)
})
