/**
 * Bodies that are far more expensive to parse than to send: the server refuses them before that, and serves others
 * meanwhile.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { messageMost } from '../../../src/adapters/http/read-json.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import { keepLoopFree } from '../../support/machine/loop-delay.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret } = await useLazaret()
const bodyBytes = 7_900_000

function serve() {
  return serveOverHttp({
    host: { lazaret, limits: defaultLimits, version: '0', warn: () => undefined },
    port: 0,
  })
}

const repeated = (text: string, bytes = bodyBytes) => text.repeat(Math.floor(bytes / text.length))
const manyKeys = Array.from({ length: 600_000 }, (_, index) => `"${index.toString(36)}":0`).join(',')
const call = (args: string, more = '') =>
  Buffer.from(
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{${args}}${more}}}`,
  )
const run = (input: string) => call(`"language":"shell","code":"echo hello","input":${input}`)

async function post(url: string, body: Uint8Array<ArrayBuffer>): Promise<{ status: number; text: string }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const response = await fetch(url, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

const refused: Readonly<Record<string, Buffer<ArrayBuffer>>> = {
  'empty objects': run(`[${repeated('{},')}{}]`),
  'empty lists': run(`[${repeated('[],')}[]]`),
  numbers: run(`[${repeated('0,')}0]`),
  keys: run(`{${manyKeys}}`),
  'arguments that there are none of': call(manyKeys),
  'lists in lists': run(repeated('[', bodyBytes / 2) + repeated(']', bodyBytes / 2)),
  'no JSON': Buffer.from(repeated('{"a":')),
}

for (const [name, body] of Object.entries(refused))
  test(`megabytes of ${name} are refused before they are read`, async () => {
    await using service = await serve()
    const { status, text } = await keepLoopFree(name, () => post(service.url, body))
    assert.deepEqual([status, /lists and objects/.test(text)], [413, true])
  })

test('a program within the bounds runs', async () => {
  await using service = await serve()
  const records = Array.from({ length: messageMost.containers - 10 }, (_, id) => `{"id":${id},"name":"x"}`)
  for (const input of [`[${records.join(',')}]`, `"${'x'.repeat(bodyBytes)}"`]) {
    const { status, text } = await post(service.url, run(input))
    assert.deepEqual([status, text.includes('hello')], [200, true])
  }
})

test('a long progress token is refused, because every notification repeats it', async () => {
  await using service = await serve()
  const code = '"language":"shell","code":"for i in 1 2 3; do echo $i; sleep 0.1; done"'
  const start = (token: string) => post(service.url, call(code, `,"_meta":{"progressToken":"${token}"}`))
  const short = await start('a')
  assert.ok(short.text.includes('notifications/progress'))
  const long = await start('a'.repeat(100_000))
  assert.equal(long.text.includes('notifications/progress'), false)
  assert.ok(long.text.includes('completed'))
})
