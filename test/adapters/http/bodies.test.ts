/** The memory that clients' requests occupy in the server until they end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { BodyBudget, cutOffLater } from '../../../src/adapters/http/body.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { adaToken, send, serveHere } from './serve-here.ts'

const sleeping = (more = ''): string =>
  JSON.stringify({ language: 'shell', code: `exec sleep 86004 # ${more}` })

test('a body counts towards the limit until its request ends', async () => {
  await using here = await serveHere({ bounds: { allBodiesBytesMax: 1000 } })
  const id = 'holds-its-body'
  const first = send(here.url, '/v1/run', {
    body: sleeping('x'.repeat(700)),
    headers: { 'x-request-id': id },
  })
  const { lazaret } = here.engine
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  const other = { body: { language: 'shell', code: `# ${'y'.repeat(500)}` } }
  const refused = await send(here.url, '/v1/run', other)
  assert.deepEqual([refused.status, refused.json['code']], [503, 'QUEUE_FULL'])
  await send(here.url, `/v1/run/${id}`, { method: 'DELETE' })
  assert.equal((await first).status, 200)
  assert.equal((await send(here.url, '/v1/run', other)).status, 200)
})

test('bodies that hold all bytes leave room for small ones', async () => {
  const budget = new BodyBudget({ bodyBytesMax: 8_000_000, allBodiesBytesMax: 4_096_000 })
  const read = (length: number) =>
    budget.read(Readable.from([Buffer.alloc(length)]) as unknown as IncomingMessage)
  using large = await read(4_096_000)
  await assert.rejects(read(3000), { status: 503 })
  using small = await read(1000)
  assert.deepEqual([large.bytes.length, small.bytes.length], [4_096_000, 1000])
})

test('pipelined requests end with their connection', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  const body = sleeping()
  const request =
    `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  socket.write(request.repeat(2))
  await eventually(() => (lazaret.stats().running === 2 ? undefined : 'they do not run'), 10_000)
  socket.destroy()
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'one still runs'), 10_000)
})

test('the refusal of a compressed body says why', async () => {
  await using here = await serveHere()
  const headers = { 'content-encoding': 'gzip' }
  const { status, json } = await send(here.url, '/v1/run', { body: sleeping(), headers })
  assert.equal(status, 400)
  assert.match(String(json['detail']), /must not be compressed/)
})

test('a client that does not read the end of its reply is disconnected', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => socket.destroy())
  socket.on('error', () => undefined)
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const timers: (() => void)[] = []
  const clock = {
    ...systemClock,
    after(_ms: number, callback: () => void) {
      timers.push(callback)
      return () => undefined
    },
  }
  cutOffLater(response, clock)
  assert.equal(timers.length, 0, 'the reply is not complete')
  // More than the kernel buffers.
  response.end(Buffer.alloc(32 * 1024 * 1024))
  cutOffLater(response, clock)
  const closed = once(response, 'close')
  timers[0]?.()
  await closed
  assert.equal(response.writableFinished, false)
})
