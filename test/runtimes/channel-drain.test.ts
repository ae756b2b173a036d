/** What is read from a guest that has ended, while its end of the channel stays open. */
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import { Channel } from '../../src/runtimes/channel/channel.ts'
import { freeBudget } from '../support/free-budget.ts'

const listener = { elapsed: () => 0, onFlood: () => undefined, onEnd: () => undefined, budget: freeBudget() }

/** Makes turns of the event loop slow, as other work would. */
function hold(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

test('messages that a guest sent before its end are read completely, however busy the event loop is', async () => {
  const text = 'x'.repeat(100_000)
  const json = Buffer.from(JSON.stringify({ type: 'value', value: text, text: '', truncated: false }))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(json.length)
  const bytes = Buffer.concat([head, json])
  const pieceBytes = 4096
  let sent = 0
  const stream = new Duplex({
    read() {
      setImmediate(() => {
        hold(1)
        if (sent < bytes.length) this.push(bytes.subarray(sent, (sent += pieceBytes)))
      })
    },
  })
  const channel = new Channel(stream, defaultLimits, listener)
  await channel.drain(systemClock)
  assert.equal(channel.claims.value?.live, text)
  stream.destroy()
})

test('a descendant that sends single bytes for ever is not waited for', async () => {
  const stream = new Duplex({ read() {} })
  const drip = setInterval(() => stream.push('x'), 1)
  const channel = new Channel(stream, defaultLimits, listener)
  await channel.drain(systemClock)
  clearInterval(drip)
  stream.destroy()
})
