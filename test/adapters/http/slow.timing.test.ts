/** Whoever sends slowly, or reads slowly, holds nothing longer than the bounds say, and harms nobody else. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import { adaToken, send, serveHere } from './serve-here.ts'

const head = `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n`
const bounds = { headersMs: 500, bodyMs: 500, idleMs: 500 }
/** The server looks for late ones once a second, and this machine may be busy. */
const lateMs = 10_000

for (const [name, bytes] of [
  ['nothing', ''],
  ['half of its headers', head],
  ['half of its body', `${head}content-length: 100\r\n\r\n{`],
  ['its body byte by byte', `${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`],
] as const)
  test(`a client that sends ${name} is cut off in time`, async () => {
    await using here = await serveHere({ bounds })
    const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    const closed = once(socket, 'close').then(() => true)
    socket.resume()
    socket.write(bytes)
    const isDripping = name.includes('byte by byte')
    const until = performance.now() + lateMs
    for (;;) {
      if (await Promise.race([closed, pause(50).then(() => false)])) break
      assert.ok(performance.now() < until, 'it is still connected')
      if (isDripping && !socket.destroyed) socket.write('1\r\n \r\n')
    }
    assert.equal((await send(here.url, '/v1/run', { body: { language: 'shell', code: '' } })).status, 200)
  })

test('a connection with nothing to say is closed', async () => {
  await using here = await serveHere({ bounds })
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  socket.resume()
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await once(socket, 'close')
})

test('a client that reads nothing makes its own guest wait, and nobody else', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  const body = JSON.stringify({
    language: 'shell',
    code: 'yes | head -c 9000000; exec sleep 87001',
    keepOutput: false,
  })
  socket.write(
    `${head}accept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  const { json } = await send(here.url, '/v1/run', { body: { language: 'shell', code: 'echo quick' } })
  assert.equal(json['stdout'], 'quick\n')
  assert.equal(lazaret.stats().running, 1)
  socket.destroy()
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'it still runs'), 10_000)
})
