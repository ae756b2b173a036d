/** Exposed ports against web pages whose name resolves to this machine (DNS rebinding); and sockets for a single user. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { test } from 'node:test'

import { FirstRequest } from '../../../src/sandbox/ports/first-request.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { guestServer } from './guest-server.ts'

const { lazaret } = await useLazaret()

async function serve() {
  const sandbox = await lazaret.sandbox({ files: { 'server.mjs': guestServer, 'speak.py': speaker } })
  await (await sandbox.startProcess('node server.mjs 127.0.0.1')).waitForPort(3000)
  await (await sandbox.startProcess('python3 speak.py')).waitForPort(4000)
  return sandbox
}

/** Sends a greeting, then echoes in capital letters. */
const speaker = `
import socket
server = socket.create_server(('127.0.0.1', 4000))
while True:
    one = server.accept()[0]
    one.sendall(b'welcome ')
    while said := one.recv(65536): one.sendall(said.upper())
    one.close()`

/** The answer to these pieces, each sent in a separate turn of the event loop. */
async function say(url: string, ...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), new URL(url).hostname).setNoDelay(true)
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, 'latin1', resolve))
    await new Promise(setImmediate)
  }
  socket.end()
  let received = ''
  for await (const piece of socket) received += String(piece)
  return received
}

const ask = (host: string, more = '') =>
  `GET /hello HTTP/1.1\r\n${more}Host: ${host}\r\nConnection: close\r\n\r\n`

test('a request that names another host is refused, however it is written', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(3000)
  for (const host of [
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'a',
    '',
    '[::1',
  ])
    assert.match(await say(exposed.url, ask(host)), /^HTTP\/1\.1 403 /, host)
  const cases = [
    [ask('localhost', 'Host: evil.example\r\n')],
    ['GET /hello HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['anything /hello HTTP/1.1\r\nhost:evil.example\r\n\r\n'],
    ['\r\n', ask('evil.example')],
    ask('evil.example').split(/(?<=[ \n])/),
    ['GET /hello HTTP/1.1\nHost: evil.example\n\n'],
    ['GET /hello HTTP/1.1\r\nHost: evil.example\r\n'],
    [`GET /hello HTTP/1.1\r\nX: ${'x'.repeat(20_000)}`],
    [`GET /${'x'.repeat(20_000)}`],
  ]
  for (const pieces of cases)
    assert.match(await say(exposed.url, ...pieces), /^HTTP\/1\.1 403 /, pieces.join('').slice(0, 100))
  assert.match(await say(exposed.url, ask('localhost')), /hello\n$/)
})

test('a WebSocket of a page with another host is refused', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(3000)
  const upgrade = 'Upgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
  assert.match(await say(exposed.url, ask('evil.example', upgrade)), /^HTTP\/1\.1 403 /)
})

test('addresses, localhost and the given names are accepted', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(3000, { hosts: ['Machine.Example'] })
  const { port } = new URL(exposed.url)
  for (const host of [
    `127.0.0.1:${port}`,
    '192.0.2.1',
    '[::1]:80',
    'LOCALHOST',
    'app.localhost:1',
    'machine.example',
  ])
    assert.match(await say(exposed.url, ask(host)), /hello\n$/, host)
  assert.match(await say(exposed.url, ask('other.example')), / 403 /)
  await using any = await sandbox.exposePort(3000, { hosts: 'any' })
  assert.match(await say(any.url, ask('evil.example')), /hello\n$/)
})

test('other protocols work, whichever side sends first', async () => {
  await using sandbox = await serve()
  await using exposed = await sandbox.exposePort(4000)
  assert.equal(await say(exposed.url), 'welcome ')
  for (const words of [
    'hello',
    'hello you\n',
    'get x\r\n',
    '*1\r\n$4\r\nping\r\n',
    'GET /\r\n',
    '\0\0\0\x08abc',
    '{"a": 1}',
  ])
    assert.equal(await say(exposed.url, words), `welcome ${words.toUpperCase()}`)
  assert.equal(await say(exposed.url, 'he', 'l', 'lo\n', 'you'), 'welcome HELLO\nYOU')
})

test('checking a request in many small pieces costs the host a bounded number of steps', () => {
  const first = new FirstRequest([])
  const line = Buffer.from('a: b\n')
  first.take(Buffer.from('GET / HTTP/1.1\n'))
  let pieces = 0
  while (first.take(line) !== undefined) pieces++
  assert.ok(pieces < 100, `${pieces}`)
})

test('blank space before a request counts: the host does not hold megabytes of it', () => {
  const first = new FirstRequest([])
  assert.equal(first.take(Buffer.alloc(16 * 1024, '\n'))?.length, 0)
  assert.equal(first.take(Buffer.from('\n')), undefined)
})

test('only this user can connect to a Unix socket; it accepts any host name, and is removed when closed', async () => {
  await using sandbox = await serve()
  const umask = process.umask(0)
  const exposed = await sandbox.exposePort(3000, { socket: true }).finally(() => process.umask(umask))
  const { socketPath = '', url } = exposed
  assert.equal(url, `unix:${socketPath}`)
  assert.equal(statSync(dirname(socketPath)).mode & 0o777, 0o700)
  const answer = await new Promise<string>((resolve, reject) => {
    request({ socketPath, path: '/hello', headers: { host: 'evil.example' } }, (response) => {
      let text = ''
      response.on('data', (piece) => (text += String(piece))).on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
  assert.equal(answer, 'hello\n')
  if (process.getuid?.() === 0) {
    const code = `import socket; socket.socket(socket.AF_UNIX).connect(${JSON.stringify(socketPath)})`
    const other = { uid: 65_534, gid: 65_534, cwd: '/', stdio: 'pipe' } as const
    assert.throws(() => execFileSync('/usr/bin/python3', ['-c', code], other), /PermissionError/)
  }
  await exposed.close()
  assert.ok(!existsSync(dirname(socketPath)))
})

test('wrong names and places are refused', async () => {
  await using sandbox = await serve()
  for (const options of [
    { hosts: 'all' },
    { hosts: ['a b'] },
    { hosts: ['example.com:80'] },
    { hosts: Array.from({ length: 65 }, () => 'example.com') },
    { socket: 'yes' },
    { socket: true, port: 1 },
    { socket: true, host: '127.0.0.1' },
  ])
    await assert.rejects(sandbox.exposePort(3000, options as object), { code: 'INVALID_REQUEST' })
})
