/** Answers of clients that would take the server's loop for ever: they belong to one token, and all others would wait. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { eventsOf, open, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

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
