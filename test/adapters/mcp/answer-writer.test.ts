/** Answers to the messages of one request are written no faster than their client reads, whatever their form. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { AnswerWriter } from '../../../src/adapters/mcp/answer-writer.ts'
import { systemClock } from '../../../src/core/clock.ts'

const MiB = 1024 * 1024

test('an answer in JSON that follows an event is written in slices, as one event', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const asked = get({ port, host: '127.0.0.1', agent: false })
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const writer = new AnswerWriter(response, systemClock)
  const stream = { headers: { 'content-type': 'text/event-stream' } }
  await writer.write(new Response('event: message\ndata: 1\n\n', stream))
  const large = { blob: 'x'.repeat(8 * MiB) }
  const written = writer.write(Response.json(large))
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  assert.ok(response.writableLength < MiB, `${response.writableLength} bytes wait`)
  const read = text(answer)
  await written
  writer.end()
  assert.equal(await read, `event: message\ndata: 1\n\nevent: message\ndata: ${JSON.stringify(large)}\n\n`)
})
