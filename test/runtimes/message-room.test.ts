import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MessageRoom } from '../../src/runtimes/channel/message-room.ts'

const MiB = 1024 * 1024

test('messages use up room for later ones, and an answered call releases it', () => {
  const room = new MessageRoom(16 * MiB)
  const half = { containers: 600_000, keys: 1 }
  assert.equal(room.take(half), true)
  assert.equal(room.take(half), false)
  room.giveBack(half)
  assert.equal(room.take(half), true)
})

test('room follows from the size of results, and there is some for small ones', () => {
  assert.equal(new MessageRoom(4 * MiB).take({ containers: 262_145, keys: 0 }), false)
  assert.equal(new MessageRoom(4 * MiB).take({ containers: 0, keys: 65_537 }), false)
  assert.equal(new MessageRoom(1).take({ containers: 65_536, keys: 16_384 }), true)
})
