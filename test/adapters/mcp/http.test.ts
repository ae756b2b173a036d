/** Who may connect over HTTP, which requests are valid, and many concurrent clients. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { defaultLimits } from '../../../src/core/limits.ts'
import { type HttpService, serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { parseTokens } from '../../../src/adapters/http/bearer-tokens.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { connect } from './connect.ts'
import { endlessShell, findGuest, msUntilDead, startEndless, sleepFor } from './find-guest.ts'
import { eventually } from '../../support/eventually.ts'

const clients: (string | undefined)[] = []
const { lazaret } = await useLazaret({
  admit: (work) => void clients.push(work.client),
})

const tokens = 'ada:0123456789abcdef\nbob:fedcba9876543210'
const call = (args: object, id = 1): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'execute_code', arguments: args },
})
const hello = call({ language: 'shell', code: 'echo hello' })

function serve(withTokens?: string): Promise<HttpService> {
  const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
  return serveOverHttp({
    host,
    port: 0,
    ...(withTokens !== undefined && { tokens: parseTokens(withTokens) }),
  })
}

interface Answer {
  readonly status: number | undefined
  readonly body: string
  readonly headers: Readonly<Record<string, unknown>>
}

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Not `fetch`, which chooses `Host` and `Origin` itself. */
async function send(
  url: string,
  body: string | object,
  { method = 'POST', path, headers }: Sent = {},
): Promise<Answer> {
  const sent = request(path === undefined ? url : new URL(path, url), {
    method,
    agent: false,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  })
  sent.on('error', () => undefined)
  sent.end(typeof body === 'string' ? body : JSON.stringify(body))
  const [response] = await once(sent, 'response')
  return {
    status: response.statusCode,
    headers: response.headers,
    body: await text(response).catch(() => ''),
  }
}

test('pages of browsers, and wrong hosts, paths, methods and bodies are refused before anything runs', async () => {
  await using service = await serve()
  const { url } = service
  const statusOf = async (sent: Sent, body: string | object = hello): Promise<number | undefined> =>
    (await send(url, body, sent)).status
  clients.length = 0
  assert.equal(await statusOf({ headers: { host: 'evil.example' } }), 403)
  assert.equal(await statusOf({ headers: { host: `127.0.0.1.evil.example:80` } }), 403)
  assert.equal(await statusOf({ headers: { origin: 'https://evil.example' } }), 403)
  assert.equal(await statusOf({ headers: { origin: 'null' } }), 403)
  assert.equal(await statusOf({ path: '/' }), 404)
  assert.equal(await statusOf({ method: 'GET' }, ''), 405)
  assert.equal(await statusOf({ method: 'OPTIONS' }, ''), 405)
  assert.equal(await statusOf({ headers: { 'content-type': 'text/plain' } }), 415)
  assert.equal(await statusOf({}, '{"jsonrpc":'), 400)
  assert.equal(await statusOf({}, 'x'.repeat(9 * 1024 * 1024)), 413)
  assert.equal(
    await statusOf(
      {},
      Array.from({ length: 33 }, (_, id) => call({}, id)),
    ),
    413,
  )
  assert.deepEqual(clients, [])
  // No answer may be readable for a page of another origin.
  const { headers, status } = await send(url, hello, { headers: { origin: 'http://localhost:3000' } })
  assert.equal(status, 200)
  assert.ok(!Object.keys(headers).some((name) => name.startsWith('access-control')))
})

test('only clients with a token are served, each under its own name', async () => {
  await using service = await serve(tokens)
  for (const authorization of [
    '',
    'Bearer',
    'Bearer 0123456789abcdeX',
    'Basic 0123456789abcdef',
    'Bearer 0123',
  ]) {
    const { status, headers } = await send(service.url, hello, { headers: { authorization } })
    assert.equal(status, 401)
    assert.equal(headers['www-authenticate'], 'Bearer')
  }
  clients.length = 0
  for (const token of ['fedcba9876543210', '0123456789abcdef']) {
    await using connection = await connect('modern', { url: service.url, token })
    const { structuredContent } = await connection.execute({ language: 'shell', code: 'echo hello' })
    assert.equal(structuredContent?.['stdout'], 'hello\n')
  }
  assert.deepEqual(clients, ['bob', 'ada'])
})

test('no client cancels a call of another, whatever session it names', async () => {
  await using service = await serve(tokens)
  const as = (token: string) => ({ authorization: `Bearer ${token}`, 'mcp-session-id': 'shared' })
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }
  const answer = send(service.url, call(endlessShell(61_000), 5), { headers: as('0123456789abcdef') })
  await eventually(() => (findGuest(61_000) === undefined ? 'it does not run' : undefined), 10_000)
  const guest = findGuest(61_000)
  assert.ok(guest !== undefined)
  const { status } = await send(service.url, cancelled, { headers: as('fedcba9876543210') })
  assert.equal(status, 202)
  assert.notEqual(findGuest(61_000), undefined)
  await send(service.url, cancelled, { headers: as('0123456789abcdef') })
  assert.ok((await msUntilDead(guest, 5000)) < 5000)
  assert.match((await answer).body, /"outcome":"cancelled"/)
})

test('twenty clients of both protocol versions are served at once, each with its own results', async () => {
  await using service = await serve()
  const answers = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      await using connection = await connect(index % 2 === 0 ? 'modern' : 'v1', service)
      const { structuredContent } = await connection.execute({ language: 'shell', code: `echo ${index}` })
      return structuredContent?.['stdout']
    }),
  )
  assert.deepEqual(
    answers,
    Array.from({ length: 20 }, (_, index) => `${index}\n`),
  )
})

test('the connection of a client stays open for a minute between two calls', async () => {
  await using service = await serve()
  const answer = await fetch(service.url, {
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' }),
  })
  await answer.text()
  assert.equal(answer.headers.get('keep-alive'), 'timeout=60')
})

test('a client that reads nothing blocks only its own program', async () => {
  await using service = await serve()
  const body = JSON.stringify({
    ...call({ language: 'shell', code: `yes | head -c 9000000; ${sleepFor(62_000)}` }),
    params: {
      name: 'execute_code',
      arguments: { language: 'shell', code: `yes | head -c 9000000; exec ${sleepFor(62_000)}` },
      _meta: { progressToken: 1 },
    },
  })
  const { port } = new URL(service.url)
  const socket = connectSocket(Number(port), '127.0.0.1')
  socket.pause()
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await eventually(() => (lazaret.stats().running === 1 ? undefined : 'it does not run'), 10_000)
  await using other = await connect('modern', service)
  const { structuredContent } = await other.execute({ language: 'shell', code: 'echo quick' })
  assert.equal(structuredContent?.['stdout'], 'quick\n')
  assert.equal(findGuest(62_000), undefined)
  socket.destroy()
  await eventually(() => (lazaret.stats().running === 0 ? undefined : 'it still runs'), 10_000)
})

test('runs end with the server', async () => {
  const service = await serve()
  const connection = await connect('v1', service)
  const guest = await startEndless(connection, 63_000)
  const [ms] = await Promise.all([msUntilDead(guest, 5000), service[Symbol.asyncDispose]()])
  assert.ok(ms < 5000)
  await connection[Symbol.asyncDispose]()
})
