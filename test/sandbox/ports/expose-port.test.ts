/** Servers of a sandbox, reached from the host: HTTP and WebSockets, large answers, slow readers, and their ends. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'

import type { LazaretEvent } from '../../../src/index.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { guestServer } from './guest-server.ts'

const events: LazaretEvent[] = []
const { lazaret } = await useLazaret({ onEvent: (event) => events.push(event) })

async function serve(address = '127.0.0.1') {
  const sandbox = await lazaret.sandbox({ files: { 'server.mjs': guestServer } })
  const server = await sandbox.startProcess(`node server.mjs ${address}`)
  await server.waitForPort(3000)
  return sandbox
}

const textOf = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text()

for (const address of ['127.0.0.1', '::1', '0.0.0.0'])
  test(`a server at ${address} is reachable on the host, concurrently and repeatedly`, async () => {
    await using sandbox = await serve(address)
    await using exposed = await sandbox.exposePort(3000)
    assert.match(exposed.url, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(exposed.port, 3000)
    assert.equal(await textOf(`${exposed.url}/hello`), 'hello\n')
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, n) => textOf(`${exposed.url}/echo`, { method: 'POST', body: `${n}` })),
    )
    assert.deepEqual(
      all,
      Array.from({ length: 20 }, (_, n) => `${n}`),
    )
  })

test('a port that closes while a server ends its answer leaves no socket', async () => {
  await using sandbox = await lazaret.sandbox()
  // It closes each connection, so the host shuts its socket down about when the answer arrives.
  const server = await sandbox.startProcess('python3 -m http.server 3000')
  await server.waitForPort(3000)
  const countSockets = () =>
    process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const before = countSockets()
  for (let attempt = 0; attempt < 120; attempt++) {
    const exposed = await sandbox.exposePort(3000)
    const client = connect(Number(new URL(exposed.url).port), '127.0.0.1')
    client.on('error', () => undefined)
    const closed = new Promise((resolve) => client.once('close', resolve))
    client.write('GET / HTTP/1.0\r\nHost: localhost\r\n\r\n')
    await once(client, 'data')
    for (let turn = 0; turn < attempt % 3; turn++) await new Promise((resolve) => setImmediate(resolve))
    await exposed.close()
    client.destroy()
    await closed
  }
  // Sockets are closed in the next turn of the event loop.
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(countSockets(), before)
})

test('WebSockets pass in both directions', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(3000)
  const socket = new WebSocket(`${exposed.url.replace('http', 'ws')}/socket`)
  await once(socket, 'open')
  for (const text of ['one', 'x'.repeat(100)]) {
    socket.send(text)
    const [{ data }] = (await once(socket, 'message')) as [MessageEvent]
    assert.equal(data, text)
  }
  socket.close()
  await once(socket, 'close')
})

test('bodies of many megabytes arrive completely, and a slow reader blocks the server', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(3000)
  const bytes = Buffer.alloc(8_000_000, 'lazaret ')
  const digest = createHash('sha256').update(bytes).digest('hex')
  assert.equal(await textOf(`${exposed.url}/digest`, { method: 'POST', body: bytes }), digest)
  const answer = await fetch(`${exposed.url}/flood`)
  const { written } = (await (await fetch(`${exposed.url}/written`)).json()) as { written: number }
  assert.ok(written < 60_000_000, `${written} bytes were written for a reader that reads nothing`)
  let count = 0
  for await (const piece of answer.body as AsyncIterable<Uint8Array>) count += piece.length
  assert.equal(count, 100_000_000)
})

test('a client that has closed its sending half still gets the answer', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(3000)
  const socket = connect(Number(new URL(exposed.url).port), '127.0.0.1')
  socket.end('GET /hello HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  assert.match(await everything(socket), /hello\n/)
})

test('without a listener the connection is reset, and a later server is found', async () => {
  await using sandbox = await lazaret.sandbox({ files: { 'server.mjs': guestServer } })
  await using exposed = await sandbox.exposePort(3000)
  await assert.rejects(fetch(exposed.url), /fetch failed/)
  const server = await sandbox.startProcess('node server.mjs 127.0.0.1')
  await server.waitForPort(3000)
  assert.equal(await textOf(`${exposed.url}/hello`), 'hello\n')
})

test('it ends when it is closed, and with its sandbox, including open connections', async () => {
  const sandbox = await serve()
  const [first, second] = [await sandbox.exposePort(3000), await sandbox.exposePort(3000)]
  const held = connect(Number(new URL(second.url).port), '127.0.0.1')
  held.on('error', () => undefined)
  held.write('GET /never HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.equal(await textOf(`${second.url}/hello`), 'hello\n')
  await first.close()
  await assert.rejects(fetch(first.url), /fetch failed/)
  const closed = new Promise((resolve) => held.once('close', resolve))
  await sandbox.destroy()
  await closed
  await assert.rejects(fetch(second.url), /fetch failed/)
  await assert.rejects(sandbox.exposePort(3000), { code: 'SANDBOX_GONE' })
  const ended = events.filter(({ type }) => type === 'work-ended').slice(-8)
  assert.ok(ended.filter((event) => 'kind' in event && event.kind === 'port').length >= 2)
})

test('wrong options, a port in use and one port too many are refused', async () => {
  await using sandbox = await lazaret.sandbox()
  for (const [port, options] of [
    [0, {}],
    [65_536, {}],
    [1.5, {}],
    ['3000', {}],
    [3000, { host: 'example.com' }],
    [3000, { port: -1 }],
    [3000, { token: 'x' } as object],
  ] as const)
    await assert.rejects(sandbox.exposePort(port as number, options), { code: 'INVALID_REQUEST' })
  const exposed = await sandbox.exposePort(3000)
  const taken = Number(new URL(exposed.url).port)
  await assert.rejects(sandbox.exposePort(3000, { port: taken }), {
    code: 'INVALID_REQUEST',
    message: /EADDRINUSE/,
  })
  for (let count = 1; count < 16; count++) await sandbox.exposePort(3000)
  await assert.rejects(sandbox.exposePort(3000), { code: 'QUEUE_FULL' })
})

async function everything(socket: Socket): Promise<string> {
  let text = ''
  for await (const piece of socket) text += String(piece)
  return text
}
