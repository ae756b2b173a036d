/** Sockets that keep this process alive, or no longer do, also after they are gone. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'

import { holdAll } from '../../../src/jail/launch/launcher.ts'

test('a socket that is gone collects no listeners', async () => {
  await using server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket.resume(), 'close')
  for (const isHeld of [true, false, true]) holdAll(isHeld, [socket, null, undefined])
  assert.equal(socket.listenerCount('connect'), 0)
})
