/** How soon a guest is dead after its client has cancelled or disconnected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultLimits } from '../../../src/core/limits.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { type ClientKind, clientKinds, connect } from './connect.ts'
import { msUntilDead, startEndless } from './find-guest.ts'

const { lazaret } = await useLazaret()

const deadWithinMs = 100
/** The best of several tries counts, because the machine may be busy. */
const tries = 3
let seconds = 71_000

for (const kind of clientKinds) {
  test(`a ${kind} client's cancellation over stdio is its guest's end within 100 ms`, () =>
    diesSoon(kind, {}))

  test(`a ${kind} client's cancellation over HTTP is its guest's end within 100 ms`, async () => {
    const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
    await using service = await serveOverHttp({ host, port: 0 })
    await diesSoon(kind, service)
  })
}

async function diesSoon(kind: ClientKind, place: { url?: string }): Promise<void> {
  const taken = { cancelled: [] as number[], left: [] as number[] }
  await using connection = await connect(kind, place)
  for (let i = 0; i < tries; i++) {
    const controller = new AbortController()
    const guest = await startEndless(connection, seconds++, controller.signal)
    controller.abort()
    taken.cancelled.push(await msUntilDead(guest, 5000))
  }
  const other = await connect(kind, place)
  const guest = await startEndless(other, seconds++)
  const [ms] = await Promise.all([msUntilDead(guest, 5000), other[Symbol.asyncDispose]()])
  taken.left.push(ms)
  assert.ok(Math.min(...taken.cancelled) < deadWithinMs, `cancelled: ${taken.cancelled.join(', ')} ms`)
  assert.ok(Math.min(...taken.left) < 10 * deadWithinMs, `left: ${taken.left.join(', ')} ms`)
  if (process.env['SHOW_TIMES'] !== undefined)
    console.error(kind, 'url' in place, taken.cancelled.map(Math.round), taken.left.map(Math.round))
}
