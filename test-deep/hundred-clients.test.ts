/** A hundred clients of `lazaret mcp` over HTTP at one time, each under its own name; and one that floods it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { serveOverHttp } from '../src/adapters/mcp/serve-http.ts'
import { parseTokens } from '../src/adapters/http/bearer-tokens.ts'
import { defaultLimits } from '../src/core/limits.ts'
import { createLazaret } from '../test/support/create-lazaret.ts'
import { clientKinds, connect } from '../test/adapters/mcp/connect.ts'
import type { Connection } from '../test/adapters/mcp/connect.ts'

const clientsCount = 100
const callsEach = 3
const runningMax = 4
const politeCalls = 8
/** Concurrent calls. */
const floodWidth = 40
/** Calls of the flood that may end during a polite call. */
const overtakingMax = 2 * runningMax

const tokenOf = (index: number) => `${index}`.padStart(16, '0')
const tokens = parseTokens(
  Array.from({ length: clientsCount }, (_, index) => `client-${index}:${tokenOf(index)}`).join('\n'),
)

const lazaret = createLazaret({ onEvent: () => undefined, queue: { runningMax, waitingMax: 1000 } })
const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
const service = await serveOverHttp({ host, port: 0, tokens })
test.after(async () => {
  await service[Symbol.asyncDispose]()
  await lazaret[Symbol.asyncDispose]()
})

const connectAs = (index: number): Promise<Connection> =>
  connect(clientKinds[index % clientKinds.length] ?? 'modern', { url: service.url, token: tokenOf(index) })

test(`${clientsCount} clients of three kinds get their own answers, in their own order`, async () => {
  const answers = await Promise.all(
    Array.from({ length: clientsCount }, async (_, index) => {
      await using connection = await connectAs(index)
      const outputs: unknown[] = []
      for (let call = 0; call < callsEach; call++) {
        const { structuredContent, content } = await connection.execute({
          language: 'shell',
          code: `echo ${index} ${call}`,
        })
        outputs.push(structuredContent?.['stdout'] ?? content)
      }
      return outputs
    }),
  )
  const expected = Array.from({ length: clientsCount }, (_, index) =>
    Array.from({ length: callsEach }, (__, call) => `${index} ${call}\n`),
  )
  assert.deepEqual(answers, expected)
})

/**
 * Counted instead of timed: how many calls of the flood end during a polite call. Fairness means a slot as soon as one of
 * them ends, so its program overlaps with the running ones and with as many that start beside it.
 */
test('a client that floods the server delays other clients by no more than its share', async () => {
  await using flooding = await connectAs(0)
  await using polite = await connectAs(1)
  let ended = 0
  const { promise: begun, resolve: firstEnded } = Promise.withResolvers<void>()
  const served = new AbortController()
  const flood = Promise.all(
    Array.from({ length: floodWidth }, async () => {
      // The flood continues until the polite client is served.
      while (!served.signal.aborted) {
        await flooding.execute({ language: 'shell', code: 'sleep 0.2' })
        ended++
        firstEnded()
      }
    }),
  )
  await begun
  const overtaking: number[] = []
  try {
    for (let call = 0; call < politeCalls; call++) {
      const endedBefore = ended
      const { structuredContent } = await polite.execute({ language: 'shell', code: 'echo polite' })
      assert.equal(structuredContent?.['stdout'], 'polite\n')
      overtaking.push(ended - endedBefore)
    }
  } finally {
    served.abort()
    await flood
  }
  assert.ok(
    Math.max(...overtaking) <= overtakingMax,
    `of the flood ended meanwhile: ${overtaking.join(', ')}`,
  )
})
