/** Calls of guests and answers of clients that would block the server's loop: they belong to one token, and all others would wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonCalls, pythonFrames } from '../../support/hostile/forged-messages.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { eventsOf, open, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

const manyKeys = `${pythonCalls}
import threading
def drain():
    while True: os.read(3, 65536)
threading.Thread(target=drain, daemon=True).start()
call = frame(call('f', [{f'a{n}': 1} for n in range(60_000)]))
for _ in range(4): send(call)
time.sleep(1)`

test('calls of functions with many keys do not block the server', async () => {
  await using here = await serveHere()
  const run = async (): Promise<number> => {
    const response = await open(here.url, '/v1/run', {
      headers: { accept: 'text/event-stream' },
      body: { code: manyKeys, language: 'python', functions: ['f'] },
    })
    let bytes = 0
    for await (const piece of response) bytes += (piece as Buffer).length
    return bytes
  }
  await run()
  assert.ok((await keepLoopFree('calls with many keys', run)) > 2_000_000)
})

test('a result with hundreds of thousands of keys does not block the server', async () => {
  await using here = await serveHere()
  const limits = { resultBytes: 64 * 1024 * 1024, wallMs: 20_000 }
  const body = { code: "{'a%d' % n: 1 for n in range(300_000)}", language: 'python', limits }
  for (const accept of ['application/json', 'text/event-stream']) {
    const run = async (): Promise<number> => {
      const response = await open(here.url, '/v1/run', { headers: { accept }, body })
      let bytes = 0
      for await (const piece of response) bytes += (piece as Buffer).length
      return bytes
    }
    await run()
    assert.ok((await keepLoopFree(`a result as ${accept}`, run)) > 3_000_000)
  }
})

const longDisplay = `${pythonFrames}
text = b'\\\\ud800' * 2_500_000
shown = b'{"type":"display","bundle":{"text/plain":"' + text + b'"},"id":"a","update":true}'
for _ in range(3): send(frame(shown))`

test('displays of megabytes do not block the server', async () => {
  await using here = await serveHere()
  const run = async (): Promise<number> => {
    const response = await open(here.url, '/v1/run', {
      headers: { accept: 'text/event-stream' },
      body: { code: longDisplay, language: 'python', limits: { hostMs: 30_000, wallMs: 60_000 } },
    })
    let bytes = 0
    for await (const piece of response) bytes += (piece as Buffer).length
    return bytes
  }
  assert.ok((await keepLoopFree('displays of megabytes', run)) > 40_000_000)
})

const longResult = `${pythonFrames}
text = b'\\xc4\\x80\\\\"' * 3_500_000
for _ in range(2): send(frame(b'{"type":"display","bundle":{"text/plain":"' + text + b'"}}'))
os.write(1, b'\\xc4\\x80\\"' * 3_000_000)`

test('a result of megabytes in each part does not block the server', async () => {
  await using here = await serveHere()
  const limits = { hostMs: 30_000, wallMs: 60_000 }
  for (const accept of ['application/json', 'text/event-stream']) {
    const run = async (): Promise<number> => {
      const response = await open(here.url, '/v1/run', {
        headers: { accept },
        body: { code: longResult, language: 'python', limits },
      })
      let bytes = 0
      for await (const piece of response) bytes += (piece as Buffer).length
      return bytes
    }
    assert.ok((await keepLoopFree(`a long result as ${accept}`, run)) > 35_000_000)
  }
})

/** A list whose text has a comma for each of 2^24 pairs, although it is sent in two kilobytes. */
const sharedLists = [
  [],
  ...Array.from({ length: 24 }, (_, index) => {
    const previous = { $type: 'Ref', path: [index] }
    return [previous, previous]
  }),
]

test(
  'an answer to input() that is no string does not block the server, and is no answer',
  { skip },
  async () => {
    await using here = await serveHere()
    assert.equal((await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })).status, 201)
    const ask = async (): Promise<string> => {
      const response = await open(here.url, '/v1/sandboxes/box/code', {
        headers: { accept: 'text/event-stream', 'x-request-id': 'asking-one' },
        body: { code: 'try: input()\nexcept Exception as error: print(error)', asks: true },
      })
      let said = ''
      for await (const { event, data } of eventsOf(response)) {
        if (event === 'output') said += String(data['text'])
        if (event !== 'call') continue
        const path = `/v1/run/asking-one/calls/${String(data['call'])}`
        assert.equal((await send(here.url, path, { body: { value: sharedLists } })).status, 204)
      }
      return said
    }
    await ask()
    assert.match(
      await keepLoopFree('an answer of lists that share lists', ask),
      /The answer must be a string\.\n$/,
    )
  },
)

test(
  'a wait for a line that matches hundreds of named sets does not block the server',
  { skip },
  async () => {
    await using here = await serveHere()
    assert.equal((await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })).status, 201)
    const process = { command: 'exec sleep 86004', id: 'p' }
    assert.equal((await send(here.url, '/v1/sandboxes/box/processes', { body: process })).status, 201)
    let attempt = 0
    const wait = () => {
      // The engine remembers patterns that it has compiled.
      const log = { source: `${attempt++}${'\\p{RGI_Emoji}'.repeat(290)}`, flags: 'vi' }
      return send(here.url, '/v1/sandboxes/box/processes/p/wait', { body: { log, timeout: 1 } })
    }
    const { status, json } = await keepLoopFree('a wait for named sets', wait)
    assert.equal(status, 400)
    assert.match(String(json['detail']), /more than 8 named sets/)
  },
)
