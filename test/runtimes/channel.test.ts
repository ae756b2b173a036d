import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'

import fc from '../support/fast-check.ts'

import { defaultLimits } from '../../src/core/limits.ts'
import type { Limits } from '../../src/core/limits.ts'
import { freeBudget } from '../support/free-budget.ts'
import { envelopeBytes } from '../../src/runtimes/channel/channel-bytes.ts'
import { Channel } from '../../src/runtimes/channel/channel.ts'
import { encodeGuestRequest } from '../../src/runtimes/channel/message-frame.ts'

const KiB = 1024

interface Listening {
  readonly channel: Channel
  readonly floods: () => number
  readonly malformed: () => number
  readonly send: (...chunks: readonly (Uint8Array | string | object)[]) => void
}

/** A channel whose guest is the test: it sends bytes unchanged, and everything else as a message. */
function listen(limits: Partial<Limits> = {}): Listening {
  const stream = new PassThrough()
  let [floods, malformed] = [0, 0]
  const channel = new Channel(
    stream,
    { ...defaultLimits, ...limits },
    {
      elapsed: () => 7,
      onFlood: () => floods++,
      onMalformed: () => malformed++,
      onEnd: () => undefined,
      budget: freeBudget(),
    },
  )
  return {
    channel,
    floods: () => floods,
    malformed: () => malformed,
    send: (...chunks) =>
      chunks.forEach((chunk) =>
        stream.emit('data', chunk instanceof Uint8Array ? Buffer.from(chunk) : frame(chunk)),
      ),
  }
}

function frame(message: string | object): Buffer {
  const json = Buffer.from(typeof message === 'string' ? message : JSON.stringify(message))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(json.length)
  return Buffer.concat([length, json])
}

const log = (text: string, level = 'log') => ({ type: 'log', level, text })
const nothing = { logs: [], displays: [] }

test('messages become claims, with the host’s own time', () => {
  const { channel, send } = listen()
  send(
    log('one'),
    { type: 'display', bundle: { 'text/plain': 'shown' } },
    { type: 'error', phase: 'run', error: { name: 'E', message: 'm', stack: 's', line: 2, column: 3 } },
    { type: 'value', value: { a: 1 }, text: '{ a: 1 }', truncated: false },
  )
  assert.deepEqual(channel.claims, {
    logs: [{ level: 'log', text: 'one', atMs: 7 }],
    displays: [{ 'text/plain': 'shown' }],
    error: { phase: 'run', error: { name: 'E', message: 'm', stack: 's', line: 2, column: 3 } },
    value: { tagged: { a: 1 }, live: { a: 1 }, text: '{ a: 1 }' },
  })
  assert.deepEqual([...channel.truncated], [])
})

test('however the stream is split, the same messages arrive', () => {
  const bytes = Buffer.concat([
    frame(log('first')),
    frame(log('zweite 日本語', 'warn')),
    frame({ type: 'value', value: [1], text: '[1]' }),
  ])
  const whole = listen()
  whole.send(bytes)
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
      const { channel, send } = listen()
      const places = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
      places.slice(1).forEach((end, index) => send(bytes.subarray(places[index], end)))
      assert.deepEqual(channel.claims, whole.channel.claims)
    }),
  )
  assert.equal(whole.channel.claims.logs.length, 2)
})

test('no bytes make it throw, and earlier messages are kept', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 10 }), (chunks) => {
      const { channel, send } = listen()
      send(log('before'), ...chunks)
      assert.equal(channel.claims.logs[0]?.text, 'before')
    }),
  )
})

test('no JSON makes it throw an error', () => {
  fc.assert(
    fc.property(
      fc.array(fc.json(), { maxLength: 5 }),
      fc.constantFrom('log', 'value', 'display', 'error'),
      (documents, type) => {
        const { channel, send } = listen()
        send(
          ...documents,
          ...documents.map(
            (document) =>
              `{"type":"${type}","text":${document},"level":${document},"bundle":${document},"error":${document}}`,
          ),
        )
        assert.ok(channel.claims.logs.length <= 10)
      },
    ),
  )
})

test('after a frame that is not JSON, all further messages are ignored', () => {
  const { channel, send } = listen()
  send(log('before'), 'no json', log('after'))
  assert.deepEqual(
    channel.claims.logs.map(({ text }) => text),
    ['before'],
  )
})

test('a frame above the maximum length is refused at once, before any of it has arrived', () => {
  const resultBytes = 1000
  const announce = (length: number) => {
    const { channel, send, malformed } = listen({ resultBytes })
    const header = Buffer.alloc(4)
    header.writeUInt32LE(length)
    send(log('before'), header)
    assert.deepEqual(
      channel.claims.logs.map(({ text }) => text),
      ['before'],
    )
    return malformed()
  }
  assert.equal(announce(resultBytes + envelopeBytes), 0)
  assert.equal(announce(resultBytes + envelopeBytes + 1), 1)
  assert.equal(announce(0xffff_fff0), 1)
  assert.equal(announce(0), 1)
})

test('malformed messages are dropped, and the others are used', () => {
  const { channel, send } = listen()
  send(
    '[]',
    'null',
    '5',
    { type: 'outcome', outcome: 'completed' },
    log('x', 'fatal'),
    { type: 'log', level: 'log', text: 5 },
    { type: 'display', bundle: ['x'] },
    { type: 'error', phase: 'later', error: {} },
    { type: 'error', phase: 'run', error: 'text' },
    { type: 'log', level: 'log' },
    log('right'),
  )
  assert.deepEqual(channel.claims, { logs: [{ level: 'log', text: 'right', atMs: 7 }], displays: [] })
})

test('invalid line numbers are left out, texts are cut, and unknown fields are dropped', () => {
  const { channel, send } = listen()
  const error = {
    name: 'N'.repeat(1000),
    message: 'm'.repeat(100 * KiB),
    stack: 5,
    line: 1.5,
    column: -1,
    outcome: 'timed-out',
    __proto__: {},
  }
  send({ type: 'error', phase: 'syntax', error })
  const claimed = channel.claims.error?.error
  assert.deepEqual(Object.keys(claimed ?? {}), ['name', 'message'])
  assert.deepEqual([claimed?.name.length, claimed?.message.length], [256, 64 * KiB])
})

test('__proto__ is a key like any other and sets no prototype', () => {
  const { channel, send } = listen()
  send(
    '{"type":"display","bundle":{"__proto__":"text","text/plain":"x"}}',
    '{"__proto__":{"type":"value"},"type":"log","level":"log","text":"y"}',
  )
  send('{"type":"value","value":{"__proto__":{"polluted":true}},"text":""}')
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  const [display] = channel.claims.displays
  assert.equal(Object.getPrototypeOf(display), Object.prototype)
  assert.equal(channel.claims.logs.length, 1)
})

test('logs stop at the output limit, which is reported', () => {
  const { channel, send } = listen({ outputBytes: 10 })
  send(log('12345'), log('6789012'), log('more'))
  assert.equal(channel.claims.logs.map(({ text }) => text).join(''), '1234567890')
  assert.deepEqual([...channel.truncated], ['logs'])
})

test('the output limit counts bytes, cuts between characters, and also applies to later logs', () => {
  const { channel, send } = listen({ outputBytes: 10 })
  send(log('€€'), log('€€'), log(''), log('x'.repeat(1000)))
  assert.deepEqual(
    channel.claims.logs.map(({ text }) => text),
    ['€€', '€', '', 'x'.repeat(0)].slice(0, channel.claims.logs.length),
  )
  assert.ok(Buffer.byteLength(channel.claims.logs.map(({ text }) => text).join('')) <= 10)
  assert.deepEqual([...channel.truncated], ['logs'])
})

test('a forged value larger than the result limit is dropped, which is reported', () => {
  const { channel, send } = listen({ resultBytes: 1000 })
  send({ type: 'value', value: 'x'.repeat(998), text: 'the text does not count: '.repeat(100) })
  assert.equal(channel.claims.value?.tagged, 'x'.repeat(998))
  const other = listen({ resultBytes: 1000 })
  other.send({ type: 'value', value: 'x'.repeat(999), text: '' })
  assert.equal(other.channel.claims.value, undefined)
  assert.deepEqual([...other.channel.truncated], ['value'])
})

test('a forged value that is nested deeper than any stack is dropped', () => {
  const { channel, send } = listen()
  send(`{"type":"value","text":"","value":${'['.repeat(200_000)}${']'.repeat(200_000)}}`)
  assert.equal(channel.claims.value, undefined)
  send(`{"type":"value","text":"","value":${'['.repeat(1000)}${']'.repeat(1000)}}`)
  assert.notEqual(channel.claims.value, undefined)
})

test('a forged value with too many lists is not parsed, which is reported', () => {
  const { channel, send } = listen()
  const value = (lists: number) => `{"type":"value","text":"","value":[${'[],'.repeat(lists)}1]}`
  send(value(1_100_000))
  assert.equal('value' in channel.claims, false)
  assert.deepEqual([...channel.truncated], ['value'])
  // The channel still works: later messages are understood.
  send(log('after'), value(400_000))
  assert.equal(channel.claims.logs.length, 1)
  assert.ok(Array.isArray(channel.claims.value?.tagged))
  assert.equal(channel.claims.value.tagged.length, 400_001)
})

test('brackets in strings do not count', () => {
  const { channel, send } = listen()
  const text = '[{"\\'.repeat(600_000)
  send({ type: 'value', text: '', value: [text] })
  assert.deepEqual(channel.claims.value?.tagged, [text])
  assert.deepEqual([...channel.truncated], [])
})

test('displays that the guest left out are reported as cut', () => {
  const { channel, send } = listen()
  send({ type: 'display', bundle: { 'text/plain': 'kept' }, truncated: true })
  assert.deepEqual(channel.claims.displays, [{ 'text/plain': 'kept' }])
  assert.deepEqual([...channel.truncated], ['displays'])
})

test('empty logs count towards the limit', () => {
  const { channel, send } = listen({ outputBytes: 100 })
  for (let count = 0; count < 1000; count++) send(log(''))
  assert.ok(channel.claims.logs.length <= 101, String(channel.claims.logs.length))
})

test('displays stop at the result limit, which is reported', () => {
  const { channel, send } = listen({ resultBytes: 100 })
  for (let count = 0; count < 10; count++) send({ type: 'display', bundle: { a: 'x'.repeat(40), b: 5 } })
  assert.deepEqual(channel.claims.displays, [{ a: 'x'.repeat(40) }, { a: 'x'.repeat(40) }])
  assert.deepEqual([...channel.truncated], ['displays'])
})

test('a value that the guest cut is reported as cut', () => {
  const { channel, send } = listen()
  send({ type: 'value', value: null, text: '', truncated: true })
  assert.deepEqual([...channel.truncated], ['value'])
})

test('a guest that sends without end is reported and no longer read', () => {
  const { channel, floods, send } = listen({ outputBytes: 0, resultBytes: 64 })
  // Messages that are dropped, so only their total size counts.
  const chunk = Buffer.concat(
    Array.from({ length: 100 }, () => frame({ type: 'none', text: 'x'.repeat(10 * KiB) })),
  )
  for (let count = 0; count < 5; count++) send(chunk)
  assert.ok(floods() > 0)
  send(log('after'))
  assert.deepEqual(channel.claims, nothing)
})

const deaf = { elapsed: () => 0, onFlood: () => undefined, onEnd: () => undefined, budget: freeBudget() }

test('the channel has ended when the guest’s end is closed', async () => {
  const stream = new PassThrough()
  const channel = new Channel(stream, defaultLimits, deaf)
  stream.end(frame(log('last')))
  await channel.ended
  assert.equal(channel.claims.logs[0]?.text, 'last')
})

test('a request is one frame of UTF-8', () => {
  const request = { language: 'python', code: 'é', args: [], resultBytes: 5 } as const
  const bytes = encodeGuestRequest(request)
  assert.equal(bytes.readUInt32LE(0), bytes.length - 4)
  assert.deepEqual(JSON.parse(bytes.toString('utf8', 4)), request)
})
