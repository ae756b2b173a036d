/** Clients that ask for much at one time, in short messages: all clients share the server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { requestsPerClientMax } from '../../../src/adapters/http/open-requests.ts'
import { ClientSandboxes } from '../../../src/adapters/mcp/sandboxes/client-sandboxes.ts'
import { batchLengthMax, serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { eventually } from '../../support/eventually.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { ask, readAll } from './raw-requests.ts'

const { lazaret } = await useLazaret()

function serve(sandboxes: ClientSandboxes) {
  const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined, sandboxes }
  return serveOverHttp({ host, port: 0 })
}

const openSandboxes = () => new ClientSandboxes({ lazaret, clock: systemClock, perClientMax: 1 })

const listings = JSON.stringify(
  Array.from({ length: batchLengthMax }, (_, id) => ({ jsonrpc: '2.0', id, method: 'tools/list' })),
)

const idsIn = (text: string): number[] => [...text.matchAll(/"id":(\d+)\}/g)].map(([, id]) => Number(id))

test('batches of listings do not block the loop, and are answered in order', async () => {
  await using sandboxes = openSandboxes()
  await using service = await serve(sandboxes)
  const texts = await keepLoopFree('batches of listings', () =>
    Promise.all(Array.from({ length: 4 }, () => readAll(ask(service.url, listings)))),
  )
  for (const text of texts) {
    assert.equal(text.split('"execute_command"').length - 1, batchLengthMax)
    assert.deepEqual(
      idsIn(text),
      Array.from({ length: batchLengthMax }, (_, id) => id),
    )
  }
})

test('one client has a bounded number of requests at one time', async (t) => {
  await using sandboxes = openSandboxes()
  await using service = await serve(sandboxes)
  const sockets = Array.from({ length: requestsPerClientMax + 1 }, () => ask(service.url, '{', 100))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  const answers: string[] = []
  for (const socket of sockets) socket.on('data', (bytes) => answers.push(bytes.toString()))
  await eventually(() => (answers.length > 0 ? undefined : 'none is refused'), 20_000)
  assert.deepEqual([answers.length, answers[0]?.slice(0, 12)], [1, 'HTTP/1.1 429'])
})
