/** How soon a guest is dead after its client has disconnected. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../support/eventually.ts'
import type { HostProcess } from '../../support/machine/processes.ts'
import { findGuest, msUntilDead, sleepFor } from '../mcp/find-guest.ts'
import { eventsOf, open, serveHere } from './serve-here.ts'

const deadWithinMs = 100
/** The best of several tries counts, because the machine may be busy. */
const tries = 5

test('the guest is dead within 100 ms of the end of its connection', async () => {
  await using here = await serveHere()
  const taken: number[] = []
  for (let at = 0; at < tries; at++) {
    const seconds = 83_000 + at
    const response = await open(here.url, '/v1/run', {
      body: { language: 'shell', code: `echo ready; exec ${sleepFor(seconds)}` },
      headers: { accept: 'text/event-stream' },
    })
    const events = eventsOf(response)
    while ((await events.next()).value?.event !== 'output');
    let guest: HostProcess | undefined
    await eventually(
      () => ((guest = findGuest(seconds)) === undefined ? 'it does not sleep' : undefined),
      5000,
    )
    response.destroy()
    taken.push(await msUntilDead(guest as unknown as HostProcess, 5000))
  }
  assert.ok(Math.min(...taken) < deadWithinMs, `${taken.map(Math.round).join(', ')} ms`)
})
