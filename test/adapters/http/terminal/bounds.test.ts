/**
 * What either end of a terminal can make the server buffer: frames, what a guest does not read, what a client does not
 * read.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { connectLazaret } from '../../../../src/adapters/client/index.ts'
import { keepLoopFree } from '../../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../../support/sandboxes-here.ts'
import { adaToken, send, serveHere } from '../serve-here.ts'
import { closeOf, readUntil, socketTo } from './open-terminal.ts'

const skip = await whyNoSandboxes()
const MiB = 1024 * 1024

test('frames are bounded, and text frames must be resize messages', { skip }, async () => {
  await using here = await serveHere()
  await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  for (const [frame, code] of [
    [Buffer.alloc(100_000), 1009],
    ['{"type":"resize","columns":0,"rows":1}', 1003],
    ['{"type":"resize","columns":80,"rows":24,"more":1}', 1003],
    ['[', 1003],
    ['{"type":"exit"}', 1003],
  ] as const) {
    const socket = socketTo(here.url)
    socket.on('error', () => undefined)
    await once(socket, 'open')
    socket.send(frame)
    assert.equal((await closeOf(socket)).code, code, String(frame).slice(0, 50))
  }
})

/** A terminal whose program sleeps and reads nothing. Each test has its own `seconds`, which tell its program from others. */
async function openUnread(url: string, seconds: number) {
  await connectLazaret({ url, token: adaToken }).sandbox({ id: 'box' })
  const socket = socketTo(url)
  await once(socket, 'open')
  socket.send(Buffer.from(`stty raw -echo; echo begun-$((1+1)); exec sleep ${seconds}\n`))
  await readUntil(socket, 'begun-2')
  return socket
}

test(
  'too much unread input ends the terminal before it fills the memory of the server',
  { skip },
  async () => {
    await using here = await serveHere()
    const socket = await openUnread(here.url, 86007)
    const closed = closeOf(socket)
    const piece = Buffer.alloc(32 * 1024, 'x')
    for (let sent = 0; sent < 64 * MiB && socket.readyState === socket.OPEN; sent += piece.length) {
      const { promise, resolve } = Promise.withResolvers<unknown>()
      socket.send(piece, resolve)
      await promise
    }
    const { code, reason } = await closed
    assert.equal(code, 1008)
    assert.match(reason, /has not read/)
  },
)

test(
  'unread input in frames of single bytes counts with what each waiting frame costs',
  { skip },
  async () => {
    await using here = await serveHere()
    const socket = await openUnread(here.url, 86008)
    const closed = closeOf(socket)
    // More than the terminal and the cell take, and much less than may wait.
    for (let sent = 0; sent < MiB / 4; sent += 32 * 1024) socket.send(Buffer.alloc(32 * 1024, 'x'))
    const byte = Buffer.from('x')
    for (let sent = 0; sent < 3000; sent++) socket.send(byte)
    // This frame would end the connection with 1003.
    socket.send('[')
    const { code, reason } = await closed
    assert.equal(code, 1008)
    assert.match(reason, /has not read/)
  },
)

/** A frame of a client, with a mask of zeros. */
const frameOf = (first: number, text: string): Buffer =>
  Buffer.concat([Buffer.from([first, 0x80 | text.length, 0, 0, 0, 0]), Buffer.from(text)])

test('a hundred thousand small frames hold up no other client', { skip }, async () => {
  await using here = await serveHere()
  await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  const resize = frameOf(0x81, '{"type":"resize","columns":80,"rows":24}')
  const kinds = { 'text frames': resize, 'binary frames': frameOf(0x82, '') }
  for (const [name, frame] of Object.entries(kinds)) {
    const flood = Buffer.concat([...Array<Buffer>(50_000).fill(frame), frameOf(0x81, '[')])
    await keepLoopFree(name, async () => {
      const client = await upgrade(here.url)
      client.write(flood)
      // The last frame ends the connection.
      for await (const bytes of client) if (String(bytes).includes('must be a resize')) break
    })
  }
})

test('a client that reads nothing blocks only its own guest', { skip }, async () => {
  await using here = await serveHere()
  const sandbox = await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  const client = await upgrade(here.url)
  client.pause()
  // A program that counts how much output the terminal has accepted.
  const line = `i=0; while :; do printf %1000s x; i=$((i+1)); echo $i > /workspace/count; done\n`
  client.write(frameOf(0x82, line))
  const count = async (): Promise<number> =>
    Number((await sandbox.exec('cat count 2>/dev/null || echo 0')).stdout)
  // The program blocks when the buffered output has reached its bound.
  let before = -1
  for (let now = await count(); now === 0 || now !== before; now = await count()) {
    before = now
    await sandbox.exec('sleep 0.3')
  }
  assert.ok(before > 100 && before < 16 * 1024, `${before} KiB were taken`)
  assert.equal((await send(here.url, '/healthz')).status, 200)
  client.destroy()
})

/** A terminal on a plain connection, which answers nothing. */
async function upgrade(url: string): Promise<Socket> {
  const { port } = new URL(url)
  const client = connect({ port: Number(port), host: '127.0.0.1' })
  client.write(
    [
      'GET /v1/sandboxes/box/terminal HTTP/1.1',
      'host: 127.0.0.1',
      `authorization: Bearer ${adaToken}`,
      'connection: upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      '\r\n',
    ].join('\r\n'),
  )
  const [head] = (await once(client, 'data')) as [Buffer]
  assert.match(head.toString('latin1'), /^HTTP\/1\.1 101 /)
  client.resume()
  return client
}
