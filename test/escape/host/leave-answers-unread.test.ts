/**
 * Clients that ask for long answers and read none: each answer would stay in the server's memory, and making many of them
 * at one time would stop it.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { EventStream } from '../../../src/adapters/http/event-stream.ts'
import { pipelinedMax } from '../../../src/adapters/http/one-at-a-time.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { adaToken, type Here, send, serveHere } from '../../adapters/http/serve-here.ts'
import { eventually } from '../../support/eventually.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'

const skip = await whyNoSandboxes()
const MiB = 1024 * 1024

test('floods of requests for the description of the API do not block the loop', async () => {
  await using here = await serveHere()
  await keepLoopFree('descriptions', async () => {
    // One pipeline that is as long as possible, and one that is longer.
    const sockets = [pipelinedMax, 400].map((count) =>
      ask(here, headOf('/openapi.json').repeat(count) + headOf('/healthz', true)),
    )
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
  })
})

/** As JSON, each of its bytes takes six. */
const nulls = `head -c ${MiB} /dev/zero`
/** Two hundred names of two hundred such characters, in ten folders with such names. */
const manyNames = `
name=$(printf '\\001%.0s' {1..200})
mkdir many && cd many
for folder in {0..9}; do
  mkdir "$name$folder"
  for file in {0..199}; do echo "$name$folder/$name$file"; done
done | tr '\\n' '\\0' | xargs -0 touch`

const longAnswers = {
  logs: async (here: Here) => {
    await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
    const process = { command: `${nulls}; ${nulls} >&2` }
    const { json } = await send(here.url, '/v1/sandboxes/box/processes', { body: process })
    const path = `/v1/sandboxes/box/processes/${String(json['id'])}`
    await send(here.url, `${path}/wait`, { body: {} })
    return `${path}/logs`
  },
  listings: async (here: Here) => {
    await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
    const made = await send(here.url, '/v1/sandboxes/box/exec', { body: { command: manyNames } })
    assert.equal((made.json['outcome'] as { exitCode?: number }).exitCode, 0, made.text)
    return '/v1/sandboxes/box/files/many?list&recursive'
  },
}

for (const [name, make] of Object.entries(longAnswers))
  test(`unread ${name} take no more than the share of their client`, { skip }, async (t) => {
    const share = 8 * MiB
    await using here = await serveHere({ engine: { queue: { heldBytesMax: 2 * share } } })
    const path = await make(here)
    const { lazaret } = here.engine
    const sockets = Array.from({ length: 16 }, () => ask(here, headOf(path)))
    t.after(() => {
      for (const socket of sockets) socket.destroy()
    })
    const heads = await Promise.all(sockets.map(headAnswered))
    const { bytes } = lazaret.stats().held
    assert.ok(bytes > 0 && bytes <= share, `${bytes} bytes are held`)
    assert.deepEqual(new Set(heads), new Set(['HTTP/1.1 200', 'HTTP/1.1 429']))
    for (const socket of sockets) socket.destroy()
    await eventually(
      () => (lazaret.stats().held.kinds.answers === 0 ? undefined : 'answers are held'),
      10_000,
    )
    assert.equal((await send(here.url, path)).status, 200)
  })

test('a long event is written as the client reads, and nothing comes in between', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  const held: number[] = []
  const hold = (bytes: number): void => void held.push(bytes)
  using events = new EventStream({ response, clock: systemClock, headers: {}, hold })
  const long = 'x'.repeat(32 * MiB)
  const sent = [events.sendLarge('result', { long }), events.send('after', { short: 1 })]
  await once(socket, 'readable')
  await eventually(() => (response.writableNeedDrain ? undefined : 'it can still be written'), 10_000)
  assert.ok(response.writableLength < MiB, `${response.writableLength} bytes wait`)
  assert.ok((held[0] ?? 0) >= long.length)
  let text = ''
  socket.setEncoding('latin1').on('data', (piece: string) => (text += piece))
  await Promise.all(sent)
  events.end()
  await once(socket, 'close')
  const body = text.replace(/^[^]*?\r\n\r\n/, '').replaceAll(/^[0-9a-f]+\r\n|\r\n(?:[0-9a-f]+\r\n)?/gm, '')
  assert.equal(
    body,
    `event: result\ndata: ${JSON.stringify({ long })}\n\nevent: after\ndata: {"short":1}\n\n`,
  )
  assert.equal(held.at(-1), 0)
})

function headOf(path: string, isLast = false): string {
  const more = isLast ? 'connection: close\r\n' : ''
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n${more}\r\n`
}

/** Reads nothing by itself. */
function ask({ url }: Here, requests: string): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
  socket.write(requests)
  return socket
}

/** The beginning of the answer; the rest stays unread. */
async function headAnswered(socket: Socket): Promise<string> {
  await once(socket, 'readable')
  return String(socket.read()).slice(0, 12)
}
