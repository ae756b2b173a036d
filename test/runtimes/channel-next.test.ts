/** A channel that serves one piece of work after another. */
import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import { defaultLimits } from '../../src/core/limits.ts'
import { Channel } from '../../src/runtimes/channel/channel.ts'
import { frameMessage } from '../../src/runtimes/channel/message-frame.ts'
import { freeBudget } from '../support/free-budget.ts'

const KiB = 1024
const frame = (message: object) => frameMessage(JSON.stringify(message))

test('bytes after the end of one piece of work count for the next, which gets an error if there are too many', async () => {
  const limits = { ...defaultLimits, outputBytes: 0, resultBytes: 1024 }
  const stream = new PassThrough()
  const [floods, ends]: [string[], number[]] = [[], []]
  const listener = (name: string) => ({
    elapsed: () => 7,
    onFlood: () => void floods.push(name),
    onEnd: (exitCode: number) => void ends.push(exitCode),
    budget: freeBudget(),
    isLasting: true,
  })
  const channel = new Channel(stream, limits, listener('first'))
  const send = (bytes: Buffer) => stream.emit('data', bytes)
  // Three of them together exceed what one piece of work may send.
  const noise = frame({ type: 'noise', text: 'x'.repeat(300 * KiB) })
  for (const bytes of [noise, noise, frame({ type: 'end', exitCode: 3 })]) send(bytes)
  while (ends.length === 0) await turn()
  send(noise)
  channel.next(limits, listener('second'))
  assert.deepEqual([floods, ends], [[], [3]])
  send(frame({ type: 'end', exitCode: 4 }))
  while (ends.length === 1) await turn()
  for (let n = 0; n < 3; n++) send(noise)
  assert.deepEqual(floods, [])
  channel.next(limits, listener('third'))
  assert.deepEqual([floods, ends], [['third'], [3, 4]])
})
