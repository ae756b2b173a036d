/** What is read from a guest that has ended, while its end of the channel stays open. */
import assert from 'node:assert/strict'
import { Duplex } from 'node:stream'
import { test } from 'node:test'

import { systemClock } from '../../src/core/clock.ts'
import type { Clock } from '../../src/core/clock.ts'
import { defaultLimits } from '../../src/core/limits.ts'
import { Channel } from '../../src/runtimes/channel/channel.ts'
import { HostBudget } from '../../src/runtimes/channel/host-budget.ts'
import { frameMessage } from '../../src/runtimes/channel/message-frame.ts'
import { freeBudget } from '../support/free-budget.ts'

const listener = { elapsed: () => 0, onFlood: () => undefined, onEnd: () => undefined, budget: freeBudget() }

/** Makes turns of the event loop slow, as other work would. */
function hold(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

const frameValue = (value: unknown): Buffer =>
  frameMessage(JSON.stringify({ type: 'value', value, text: '', truncated: false }))

/** Rejects when the wait has slept more often than any message needs. */
async function drainSoon(channel: Channel, clock: Clock = systemClock): Promise<void> {
  const [tooOften, sleepsMax] = [Promise.withResolvers<never>(), 50_000]
  let sleeps = 0
  const counting: Clock = {
    ...clock,
    after: (ms, callback) => {
      if (++sleeps < sleepsMax) return clock.after(ms, callback)
      tooOften.reject(new Error(`still waiting after ${sleepsMax} turns`))
      return () => undefined
    },
  }
  await Promise.race([channel.drain(counting), tooOften.promise])
}

/** A clock whose time passes with the turns of the event loop. */
const hasty: Clock = {
  ...systemClock,
  after(_ms, callback) {
    const turn = setImmediate(callback)
    return () => clearImmediate(turn)
  },
}

test('messages that a guest sent before its end are read completely, however busy the event loop is', async () => {
  const text = 'x'.repeat(100_000)
  const bytes = frameValue(text)
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

test('a message that is still being read when its run ends is not waited for', async () => {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  const budget = new HostBudget(systemClock, 60_000)
  const limits = { ...defaultLimits, resultBytes: 64 * 1024 * 1024 }
  const channel = new Channel(stream, limits, { ...listener, budget })
  const members = Array.from({ length: 100_000 }, (_, number) => [`key${number}`, number] as const)
  stream.push(frameValue(Object.fromEntries(members)))
  stream.push(null)
  while (!channel.isBusy) await new Promise((resolve) => setImmediate(resolve))
  const drained = drainSoon(channel, hasty)
  budget.end()
  await drained
  assert.equal(channel.claims.value, undefined)
})

test('a channel that does not get on with its messages is given up', async () => {
  const stream = new Duplex({ read() {} })
  const budget = freeBudget()
  budget.perform = () => undefined
  const channel = new Channel(stream, defaultLimits, { ...listener, budget })
  stream.push(frameValue(1))
  while (!channel.isBusy) await new Promise((resolve) => setImmediate(resolve))
  await drainSoon(channel, hasty)
  stream.destroy()
})
