/** Waits and writes end with their client, with the server, and within a bound. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { adaToken, type Answer, type Here, open, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()
const timeout = 60_000
const sleeping = '/v1/sandboxes/box/processes/p'

async function startSleeping(here: Here): Promise<void> {
  await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
  await send(here.url, '/v1/sandboxes/box/processes', { body: { command: 'exec sleep 86003', id: 'p' } })
}

/** Resolves when the token's only place is taken. */
async function untilTaken(here: Here): Promise<void> {
  let code: unknown
  while (code !== 'CLIENT_QUEUE_FULL')
    code = (await send(here.url, `${sleeping}/wait`, { body: { port: 0 } })).json['code']
}

test('the end of the server ends pending waits with the reason', { skip, timeout }, async () => {
  let waiting: Promise<Answer> | undefined
  {
    await using here = await serveHere({ ada: { running: 1 } })
    await startSleeping(here)
    waiting = send(here.url, `${sleeping}/wait`, { body: { timeout: 3_600_000 } })
    await untilTaken(here)
  }
  const { status, json } = await waiting
  assert.deepEqual([status, json['code']], [503, 'DISPOSED'])
})

for (const body of [{}, { log: 'never' }, { log: { source: 'never' } }, { port: 1 }])
  test(
    `a client that disconnects while it waits for ${JSON.stringify(body)} frees its slot`,
    { skip, timeout },
    async () => {
      await using here = await serveHere({ ada: { running: 1 } })
      await startSleeping(here)
      const leave = new AbortController()
      const waiting = fetch(`${here.url}${sleeping}/wait`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adaToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ ...body, timeout: 3_600_000 }),
        signal: leave.signal,
      })
      await untilTaken(here)
      leave.abort()
      await assert.rejects(waiting)
      let code: unknown = 'CLIENT_QUEUE_FULL'
      while (code === 'CLIENT_QUEUE_FULL')
        code = (await send(here.url, `${sleeping}/wait`, { body: { timeout: 1 } })).json['code']
      assert.equal(code, 'WAIT_TIMED_OUT')
    },
  )

test('writing to a process that reads nothing is bounded', { skip, timeout }, async () => {
  await using here = await serveHere()
  await startSleeping(here)
  const sent = { body: { data: 'x'.repeat(1_300_000) } }
  const first = open(here.url, `${sleeping}/stdin`, sent)
  let code: unknown
  while (code !== 'QUEUE_FULL')
    code = (await send(here.url, `${sleeping}/stdin`, { body: { data: 'y' } })).json['code']
  await send(here.url, sleeping, { method: 'DELETE' })
  assert.equal((await first).statusCode, 204)
})

test(
  'closing the input of a terminal that reads nothing is bounded as a write',
  { skip, timeout },
  async () => {
    await using here = await serveHere()
    await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
    const tty = { columns: 80, rows: 24 }
    await send(here.url, '/v1/sandboxes/box/processes', {
      body: { command: 'exec sleep 86004', id: 'p', tty },
    })
    const first = open(here.url, `${sleeping}/stdin`, { body: { data: 'x'.repeat(1_300_000) } })
    let code: unknown
    while (code !== 'QUEUE_FULL')
      code = (await send(here.url, `${sleeping}/stdin`, { body: { data: 'y' } })).json['code']
    const close = await send(here.url, `${sleeping}/stdin`, { body: { close: true } })
    assert.equal(close.json['code'], 'QUEUE_FULL')
    const odd = await send(here.url, `${sleeping}/stdin`, { body: { close: 1 } })
    assert.equal(odd.json['code'], 'INVALID_REQUEST')
    await send(here.url, sleeping, { method: 'DELETE' })
    assert.equal((await first).statusCode, 204)
  },
)

test('a snippet that is ended with its server is not reported as a defect', { timeout }, async () => {
  let answer: Promise<Answer> | undefined
  const warnings: string[] = []
  {
    await using here = await serveHere({ ada: { running: 1 } })
    answer = send(here.url, '/v1/snippet', { body: { source: 'for (;;) {}' } })
    let status = 0
    while (status !== 429)
      status = (await send(here.url, '/v1/snippet', { body: { source: 'emit("")' } })).status
    await here.service[Symbol.asyncDispose]()
    warnings.push(...here.warnings)
  }
  const { status, json } = await answer
  assert.deepEqual([status, json['code'], warnings], [503, 'DISPOSED', []])
})
