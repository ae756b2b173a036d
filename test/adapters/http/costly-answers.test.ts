/** Calls of guests and answers of clients that would block the server's loop: they belong to one token, and all others would wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pythonCalls, pythonFrames } from '../../support/hostile/forged-messages.ts'
import { requireFree, testLongResult, testManyKeys } from '../../support/sizes/costly-answer-tests.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { eventsOf, open, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

/** The client answers each call when it arrives. */
const manyKeys = `${pythonCalls}
call = frame(call('f', [{f'a{n}': 1} for n in range(60_000)]))
for _ in range(4): send(call)
for _ in range(4): receive()`

test('calls of functions with many keys do not block the server', async () => {
  await using here = await serveHere()
  await requireFree(here, 'calls with many keys', {
    ...{ accept: 'text/event-stream', leastBytes: 2_000_000, language: 'python' },
    code: manyKeys,
    functions: ['f'],
  })
})

testManyKeys('application/json')
testLongResult('text/event-stream')

const longDisplay = `${pythonFrames}
text = b'\\\\ud800' * 2_500_000
shown = b'{"type":"display","bundle":{"text/plain":"' + text + b'"},"id":"a","update":true}'
send(frame(shown))`

test('a display of megabytes does not block the server', async () => {
  await using here = await serveHere()
  await requireFree(here, 'a display of megabytes', {
    ...{ accept: 'text/event-stream', leastBytes: 13_000_000, language: 'python' },
    code: longDisplay,
  })
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
