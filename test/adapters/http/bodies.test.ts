/** The memory that clients' requests occupy in the server until they end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { cutOffLater } from '../../../src/adapters/http/body.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { adaToken, bobToken, send, serveHere } from './serve-here.ts'

const sleeping = (more = ''): string =>
  JSON.stringify({ language: 'shell', code: `exec sleep 86004 # ${more}` })

const KiB = 1024
/** A share of 64 KiB for one client alone. */
const engine = { queue: { heldBytesMax: 128 * KiB } }

test('a body counts towards the share of its client until its request ends', async () => {
  await using here = await serveHere({ engine })
  const id = 'holds-its-body'
  const first = send(here.url, '/v1/run', {
    body: sleeping('x'.repeat(60 * KiB)),
    headers: { 'x-request-id': id },
  })
  const { lazaret } = here.engine
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  const other = { body: { language: 'shell', code: `# ${'y'.repeat(40 * KiB)}` } }
  const refused = await send(here.url, '/v1/run', other)
  assert.deepEqual([refused.status, refused.json['code']], [429, 'CLIENT_QUEUE_FULL'])
  assert.equal(refused.headers['retry-after'], '1')
  // What the client holds leaves room for others, and for its own short requests.
  assert.equal((await send(here.url, '/v1/run', { ...other, token: bobToken })).status, 200)
  assert.equal((await send(here.url, '/v1/run', { body: { language: 'shell', code: ':' } })).status, 200)
  await send(here.url, `/v1/run/${id}`, { method: 'DELETE' })
  assert.equal((await first).status, 200)
  assert.equal((await send(here.url, '/v1/run', other)).status, 200)
  assert.equal(lazaret.stats().held.bytes, 0)
})

test('bodies that never end take no more than the share of their client', async (t) => {
  await using here = await serveHere({ engine })
  const { lazaret } = here.engine
  const head = `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n`
  const sockets = Array.from({ length: 8 }, () => connect(Number(new URL(here.url).port), '127.0.0.1'))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const answers: string[] = []
  for (const socket of sockets) {
    socket.on('error', () => undefined).on('data', (bytes) => answers.push(bytes.toString()))
    socket.write(`${head}content-length: ${33 * KiB}\r\n\r\n${'x'.repeat(32 * KiB)}`)
  }
  // Each holds 16 KiB besides its free part, so four have the share.
  await eventually(() => (answers.length === 4 ? undefined : `${answers.length} were refused`), 10_000)
  assert.ok(answers.every((answer) => answer.startsWith('HTTP/1.1 429 ')))
  assert.equal(lazaret.stats().held.kinds.bodies, 64 * KiB)
  const { status } = await send(here.url, '/v1/run', {
    body: { language: 'shell', code: `# ${'y'.repeat(40 * KiB)}` },
    token: bobToken,
  })
  assert.equal(status, 200)
  for (const socket of sockets) socket.destroy()
  await eventually(() => (lazaret.stats().held.bytes === 0 ? undefined : 'bytes are still held'), 10_000)
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

test('a token has a bounded number of requests at one time, and others have theirs', async (t) => {
  await using here = await serveHere({ bounds: { requestsPerTokenMax: 4 } })
  const { lazaret } = here.engine
  const sockets = Array.from({ length: 5 }, () => connect(Number(new URL(here.url).port), '127.0.0.1'))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const answers: string[] = []
  const head = `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n`
  for (const socket of sockets) {
    socket.on('error', () => undefined).on('data', (bytes) => answers.push(bytes.toString()))
    socket.write(`${head}content-length: 100\r\n\r\n{`)
  }
  await eventually(() => (answers.length > 0 ? undefined : 'none is refused'), 10_000)
  assert.deepEqual([answers.length, answers[0]?.slice(0, 12)], [1, 'HTTP/1.1 429'])
  const short = { body: { language: 'shell', code: ':' }, token: bobToken }
  assert.equal((await send(here.url, '/v1/run', short)).status, 200)
  for (const socket of sockets) socket.destroy()
  await eventually(() => (lazaret.stats().held.bytes === 0 ? undefined : 'bodies are held'), 10_000)
  assert.equal((await send(here.url, '/v1/run', { ...short, token: adaToken })).status, 200)
})
