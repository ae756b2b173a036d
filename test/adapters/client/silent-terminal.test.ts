/** A server that accepts the connection of a terminal, and then says nothing. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock, test } from 'node:test'
import { WebSocketServer } from 'ws'

import { openRemoteTerminal } from '../../../src/adapters/client/remote-terminal.ts'
import type { SandboxConnection } from '../../../src/adapters/client/sandbox-connection.ts'

test('a terminal that is not started within a minute is lost, and its connection closed', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const silent = new WebSocketServer({ server })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const sandbox = {
    connection: { place: { url, token: 'token' } },
    pathOf: (path: string) => path,
  } as unknown as SandboxConnection
  const connected = once(silent, 'connection')
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const lost = assert.rejects(openRemoteTerminal(sandbox, { onOutput: () => undefined }), {
      code: 'CONNECTION_LOST',
      message: /has not started the terminal within 60 s/,
    })
    const [socket] = (await connected) as [{ once: (event: string, listener: () => void) => void }]
    const closed = new Promise<void>((resolve) => socket.once('close', resolve))
    mock.timers.tick(60_000)
    await lost
    await closed
  } finally {
    mock.timers.reset()
    silent.close()
  }
})
