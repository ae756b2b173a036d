/** Clients that write requests without waiting for the answers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { pipelinedMax } from '../../../src/adapters/http/one-at-a-time.ts'
import { eventually } from '../../support/eventually.ts'
import { adaToken, type Here, serveHere } from './serve-here.ts'

function requestOf(method: string, path: string, body = '', more = ''): string {
  return (
    `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n${more}` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  )
}

function open({ url }: Here): Socket {
  return connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
}

async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (bytes) => (text += bytes.toString()))
  await once(socket, 'close')
  return text
}

const sleeping = JSON.stringify({ language: 'shell', code: 'exec sleep 86004' })

test('a request begins when the one before it was answered', async () => {
  await using here = await serveHere()
  const short = JSON.stringify({ language: 'shell', code: 'exec sleep 86004', limits: { wallMs: 300 } })
  const socket = open(here)
  // If the second one were served at once, it would cancel the first.
  socket.write(
    requestOf('POST', '/v1/run', short, 'x-request-id: the-first-one\r\n') +
      requestOf('DELETE', '/v1/run/the-first-one', '', 'connection: close\r\n'),
  )
  const text = await textOf(socket)
  assert.match(text, /"timed-out"/)
  assert.deepEqual(text.match(/^HTTP\/1\.1 \d+/gm), ['HTTP/1.1 200', 'HTTP/1.1 404'])
})

test('requests that wait end with their connection', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  const socket = open(here)
  socket.write(requestOf('POST', '/v1/run', sleeping).repeat(2))
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  socket.destroy()
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'it still runs'), 10_000)
  assert.equal(lazaret.stats().held.bytes, 0)
})

test('as many requests as may wait are answered in order', async () => {
  await using here = await serveHere()
  const socket = open(here)
  const paths = Array.from({ length: pipelinedMax }, (_, index) => `/v1/none-${index}`)
  const last = requestOf('GET', '/healthz', '', 'connection: close\r\n')
  socket.write(paths.map((path) => requestOf('GET', path)).join('') + last)
  const statuses = (await textOf(socket)).match(/^HTTP\/1\.1 \d+/gm)
  assert.deepEqual(statuses, [...paths.map(() => 'HTTP/1.1 404'), 'HTTP/1.1 200'])
})

test('a client that writes more requests than may wait is disconnected', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  const socket = open(here)
  socket.write(
    requestOf('POST', '/v1/run', sleeping) + requestOf('GET', '/openapi.json').repeat(pipelinedMax + 1),
  )
  assert.equal(await textOf(socket), '')
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'it still runs'), 10_000)
})

test('a terminal is not opened while a request is being answered', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  const socket = open(here)
  socket.write(requestOf('POST', '/v1/run', sleeping))
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  socket.write(
    `GET /v1/sandboxes/none/terminal HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
      `authorization: Bearer ${adaToken}\r\n\r\n`,
  )
  assert.equal(await textOf(socket), '')
})
