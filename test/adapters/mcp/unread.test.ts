/** Clients that ask for files of megabytes as resources, and read none: the server holds one answer of each connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ClientSandboxes } from '../../../src/adapters/mcp/sandboxes/client-sandboxes.ts'
import { batchLengthMax, serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { HostAccount } from '../../../src/core/host-account.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { eventually } from '../../support/eventually.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { ask, readAll } from './raw-requests.ts'

const { lazaret } = await useLazaret()
const skip = await whyNoSandboxes()
const MiB = 1024 * 1024

const countOf = (text: string, word: string): number => text.split(word).length - 1

test('unread files take no more than the share of their client', { skip }, async (t) => {
  // Room for one answer: 2 MiB as base64, as JSON and as bytes.
  const account = new HostAccount(16 * MiB)
  await using sandboxes = new ClientSandboxes({ lazaret, clock: systemClock, perClientMax: 1 })
  const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined, sandboxes, account }
  await using service = await serveOverHttp({ host, port: 0 })
  const handle = await sandboxes.create('http', AbortSignal.timeout(60_000))
  await sandboxes.get('http', handle).exec('head -c 2M /dev/zero > zeros')
  const params = { uri: `lazaret://${handle}/workspace/zeros` }
  const reads = Array.from({ length: batchLengthMax }, (_, id) => ({
    ...{ jsonrpc: '2.0', id, method: 'resources/read', params },
  }))
  const unread = ask(service.url, JSON.stringify(reads))
  t.after(() => unread.destroy())
  await eventually(() => (account.stats.kinds.answers > 0 ? undefined : 'nothing is held'), 30_000)
  const text = await readAll(ask(service.url, JSON.stringify(reads)))
  assert.ok(countOf(text, 'CLIENT_QUEUE_FULL') > 0)
  assert.equal(countOf(text, 'QUEUE_FULL') + countOf(text, '"blob"'), batchLengthMax)
  unread.destroy()
  await eventually(() => (account.stats.bytes === 0 ? undefined : 'answers are held'), 30_000)
  assert.equal(countOf(await readAll(ask(service.url, JSON.stringify(reads.slice(0, 1)))), '"blob"'), 1)
})
