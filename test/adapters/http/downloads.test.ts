/** An incomplete download never ends like a complete one. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { streamBytes } from '../../../src/adapters/http/stream-bytes.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { open, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

/** Whether a client takes these pieces for a complete file of `bytes` bytes. */
async function isTakenForWhole(pieces: readonly string[], bytes: number): Promise<boolean> {
  async function* content(): AsyncGenerator<Uint8Array> {
    for (const piece of pieces) yield Buffer.from(piece)
  }
  const headers = { 'content-length': String(bytes) }
  const server = createServer(
    (_request, response) =>
      void streamBytes({ id: 'one', response, clock: systemClock }, content(), { headers }),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  try {
    const response = await open(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, '/')
    await buffer(response)
    return response.complete
  } catch {
    return false
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

test('a file that shrinks or grows while it is sent breaks the connection', { timeout: 10_000 }, async () => {
  assert.equal(await isTakenForWhole(['abc', 'def'], 6), true)
  assert.equal(await isTakenForWhole(['abc'], 6), false)
  assert.equal(await isTakenForWhole(['abc', 'def', 'ghi'], 6), false)
})

test('a tar that fails midway breaks the connection, and no event is added to it', { skip }, async () => {
  await using here = await serveHere()
  await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
  const command = 'mkdir a; for i in $(seq 20); do head -c 200000 /dev/zero > a/$i; done'
  await send(here.url, '/v1/sandboxes/box/exec', { body: { command } })
  const response = await open(here.url, '/v1/sandboxes/box/archive?path=a&bytesMax=1000000')
  const pieces: Buffer[] = []
  const read = async (): Promise<void> => {
    for await (const piece of response as AsyncIterable<Buffer>) pieces.push(piece)
  }
  await read().catch(() => undefined)
  assert.equal(response.statusCode, 200)
  assert.equal(response.complete, false)
  assert.equal(Buffer.concat(pieces).includes('event: error'), false)
})
