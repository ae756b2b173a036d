/** Clients that send or read slowly hold nothing for longer than the bounds allow, and do not affect others. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import { untilPythonBlocks } from '../../support/machine/blocked-guests.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { ampleMs } from '../../support/patient-run.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { adaToken, send, serveHere } from './serve-here.ts'

const headOf = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n`
const head = headOf('/v1/run')
const skip = await whyNoSandboxes()
const bounds = { headersMs: 500, bodyMs: 500, idleMs: 500 }
/** The server checks for late clients once a second, and this machine may be busy. */
const lateMs = 10_000

for (const [name, bytes] of [
  ['nothing', ''],
  ['half of its headers', head],
  ['half of its body', `${head}content-length: 100\r\n\r\n{`],
  ['its body byte by byte', `${head}transfer-encoding: chunked\r\n\r\n1\r\n{\r\n`],
] as const)
  test(`a client that sends ${name} is disconnected in time`, async () => {
    await using here = await serveHere({ bounds })
    const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
    socket.on('error', () => undefined)
    // The server may reset the connection while the client still sends; once() of node:events would reject with that error.
    const closed = new Promise<boolean>((resolve) => void socket.once('close', () => resolve(true)))
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

test('an idle connection is closed', async () => {
  await using here = await serveHere({ bounds })
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  socket.resume()
  socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
  await once(socket, 'close')
})

test('a client that reads nothing blocks only its own guest', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  const code = 'yes | head -c 9000000; exec sleep 87001'
  const socket = askWithoutReading(here.url, '/v1/run', { language: 'shell', code, keepOutput: false })
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  const { json } = await send(here.url, '/v1/run', { body: { language: 'shell', code: 'echo quick' } })
  assert.equal(json['stdout'], 'quick\n')
  assert.equal(lazaret.stats().running, 1)
  socket.destroy()
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'it still runs'), 10_000)
})

/** Half a gigabyte, which the server would hold if it did not wait for its client. */
const manyDisplays =
  "it = display('x' * 100_000, display_id='it')\nfor _ in range(5000): it.update('y' * 100_000)"
/** The client reads so much of it, which shows that the displays arrive. */
const readBytes = 500_000

test('unread displays block their run, and the memory of the server stays small', async () => {
  await using here = await serveHere()
  const { lazaret } = here.engine
  await keepHeldFlat(async () => {
    const socket = askWithoutReading(here.url, '/v1/run', {
      language: 'python',
      code: manyDisplays,
      limits: { wallMs: ampleMs, hostMs: ampleMs },
    })
    await readAtFirst(socket, readBytes)
    assert.equal(await untilPythonBlocks(() => lazaret.stats().running === 0), 'blocked')
    socket.destroy()
  })
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'it still runs'), 10_000)
})

test(
  'unread displays block their code context, and the memory of the server stays small',
  { skip },
  async () => {
    await using here = await serveHere({ engine: { defaults: { hostMs: ampleMs } } })
    await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
    const context = '/v1/sandboxes/box/contexts'
    await send(here.url, context, { body: { id: 'notes' } })
    const notes = here.engine.lazaret.listSandboxes()[0]?.getCodeContext('notes')
    await keepHeldFlat(async () => {
      const socket = askWithoutReading(here.url, `${context}/notes/run`, {
        code: manyDisplays,
        timeout: ampleMs,
      })
      await readAtFirst(socket, readBytes)
      assert.equal(await untilPythonBlocks(() => notes?.status === 'idle'), 'blocked')
      socket.destroy()
    })
    await eventually(() => (notes?.status === 'idle' ? undefined : 'it still runs'), 10_000)
  },
)

/** Reads at least so much, and then stops. */
async function readAtFirst(socket: Socket, bytes: number): Promise<void> {
  for (let read = 0; read < bytes;) {
    await once(socket, 'readable')
    read += (socket.read() as Buffer | null)?.length ?? 0
  }
}

/** Requests events, and reads nothing of the reply by itself. */
function askWithoutReading(url: string, path: string, document: object): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.pause()
  const body = JSON.stringify(document)
  socket.write(
    `${headOf(path)}accept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  return socket
}
