/** Runs with costly results over HTTP, which must not block the server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { open, send, serveHere } from '../../adapters/http/serve-here.ts'
import type { Here } from '../../adapters/http/serve-here.ts'
import { pythonFrames } from '../hostile/forged-messages.ts'
import { keepLoopFree } from '../machine/loop-delay.ts'
import { ampleMs } from '../patient-run.ts'

export type Accepted = 'application/json' | 'text/event-stream'

const limits = { hostMs: ampleMs, wallMs: ampleMs }

/** Fails if the run blocks the server, does not complete, or has a shorter answer. Its client answers each call. */
export async function requireFree({ url }: Here, name: string, run: CostlyRun): Promise<void> {
  const { accept, leastBytes, ...body } = run
  const headers = { accept, 'x-request-id': 'the-costly-one' }
  const request = { headers, body: { ...body, limits: { ...limits, ...body.limits } } }
  const { bytes, outcome } = await keepLoopFree(`${name} as ${accept}`, async () => {
    // Nothing is kept of the answer, because collecting it as garbage would take time, too.
    const seen = { bytes: 0, outcome: 'none' }
    let end = ''
    for await (const piece of await open(url, '/v1/run', request)) {
      const text = end + (piece as Buffer).toString('latin1')
      seen.bytes += (piece as Buffer).length
      seen.outcome = outcomeOf.exec(text)?.[1] ?? seen.outcome
      const [, call] = callStart.exec(text) ?? []
      // The start of an event is enough: it is written in one turn.
      if (call !== undefined) await send(url, `/v1/run/the-costly-one/calls/${call}`, { body: { value: 1 } })
      end = text.slice(-keptChars).replace(callStart, '')
    }
    return seen
  })
  assert.equal(outcome, '{"kind":"completed","exitCode":0}')
  assert.ok(bytes > leastBytes, `${bytes} bytes`)
}

/** A piece may end within what these look for. */
const keptChars = 200
const outcomeOf = /"outcome":(\{[^{}]*\})/
const callStart = /event: call\ndata: \{"call":"?([^",]+)"?,/

interface CostlyRun {
  readonly accept: Accepted
  readonly leastBytes: number
  readonly language: 'python'
  readonly code: string
  readonly functions?: readonly string[]
  readonly limits?: object
}

export function testManyKeys(accept: Accepted): void {
  test(`a result with hundreds of thousands of keys does not block the server: ${accept}`, async () => {
    await using here = await serveHere()
    await requireFree(here, 'a result with many keys', {
      ...{ accept, leastBytes: 3_000_000, language: 'python' },
      code: "{'a%d' % n: 1 for n in range(300_000)}",
      limits: { resultBytes: 64 * 1024 * 1024 },
    })
  })
}

const longResult = `${pythonFrames}
text = b'\\xc4\\x80\\\\"' * 3_500_000
for _ in range(2): send(frame(b'{"type":"display","bundle":{"text/plain":"' + text + b'"}}'))
os.write(1, b'\\xc4\\x80\\"' * 3_000_000)`

export function testLongResult(accept: Accepted): void {
  test(`a result of megabytes in each part does not block the server: ${accept}`, async () => {
    await using here = await serveHere()
    const run = { accept, leastBytes: 35_000_000, language: 'python', code: longResult } as const
    await requireFree(here, 'a long result', run)
  })
}
