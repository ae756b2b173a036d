/**
 * A client that connects and sends nothing, or not everything, holds its connection only for the server's time limit.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'

import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret } = await useLazaret()
const headers = 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n'

const slow = [
  { name: 'nothing', sent: '', msMax: 15_000 },
  { name: 'half of its headers', sent: headers, msMax: 15_000 },
  { name: 'half of its body', sent: `${headers}Content-Length: 100\r\n\r\n{`, msMax: 35_000 },
]

test('a client that sends nothing, or half a request, is disconnected in time', async () => {
  const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
  await using service = await serveOverHttp({ host, port: 0 })
  const port = Number(new URL(service.url).port)
  await Promise.all(
    slow.map(async ({ name, sent, msMax }) => {
      const startedMs = performance.now()
      const socket = connect(port, '127.0.0.1')
      socket.write(sent)
      socket.resume()
      await once(socket, 'close')
      const ms = performance.now() - startedMs
      assert.ok(ms < msMax, `${name}: ${Math.round(ms)} ms`)
    }),
  )
})
