/** Which requests the server accepts: hosts, origins, tokens, addresses, sizes and garbage. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { adaToken, bobToken, send, serveHere } from './serve-here.ts'

const hello = { language: 'shell', code: 'echo hello' }

/** The server's answer to bytes that no HTTP client would send. */
async function sendRaw(url: string, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  socket.end(bytes)
  return text(socket).catch(() => '')
}

test('pages of browsers, other hosts, missing tokens and tokens in URLs are refused before anything runs', async () => {
  const works: unknown[] = []
  await using here = await serveHere({ engine: { admit: (work) => void works.push(work) } })
  const statusOf = async (headers: Record<string, string>, path = '/v1/run'): Promise<number> =>
    (await send(here.url, path, { body: hello, headers })).status
  const { host } = new URL(here.url)
  assert.equal(await statusOf({ host: 'evil.example' }), 403)
  assert.equal(await statusOf({ host: '127.0.0.1.evil.example' }), 403)
  assert.equal(await statusOf({ host: '127.0.0.1@evil.example' }), 403)
  assert.equal(await statusOf({ origin: 'https://evil.example' }), 403)
  assert.equal(await statusOf({ origin: 'null' }), 403)
  assert.equal(await statusOf({ origin: 'http://127.0.0.1:1' }), 403)
  assert.equal(await statusOf({ 'sec-fetch-site': 'cross-site' }), 403)
  assert.equal(await statusOf({ 'content-type': 'text/plain' }), 400)
  assert.equal(await statusOf({}, `/v1/run?token=${adaToken}`), 400)
  for (const token of [null, '', 'ada-0123456789abcdeX', 'x'.repeat(10_000)]) {
    const { status, headers, text: body } = await send(here.url, '/v1/run', { body: hello, token })
    assert.equal(status, 401)
    assert.equal(headers['www-authenticate'], 'Bearer')
    assert.ok(token === null || token === '' || !body.includes(token))
  }
  assert.equal(
    (await send(here.url, '/v1/run', { body: hello, token: null, headers: { cookie: `token=${adaToken}` } }))
      .status,
    401,
  )
  assert.deepEqual(works, [])
  assert.equal(await statusOf({ origin: `http://${host}` }), 200)
})

test('pages of other origins cannot read answers, and browsers do not cache them', async () => {
  await using here = await serveHere()
  for (const [path, sent] of [
    ['/v1/run', { body: hello }],
    ['/v1/run', { method: 'OPTIONS' }],
    ['/nowhere', {}],
    ['/healthz', {}],
  ] as const) {
    const { headers } = await send(here.url, path, sent)
    assert.ok(!Object.keys(headers).some((name) => /^access-control|^set-cookie/.test(name)), path)
    assert.equal(headers['cache-control'], 'no-store', path)
  }
})

test('without a token no routes are revealed, and paths are not normalized', async () => {
  await using here = await serveHere()
  for (const path of ['/v1/run', '/v1/nowhere', '/index.html', '//v1/run', 'http://evil.example/v1/run'])
    assert.equal((await send(here.url, path, { token: null })).status, 401, path)
  for (const [path, status] of [
    ['/v1/nowhere', 404],
    ['/v1//run', 404],
    ['/V1/run', 404],
    ['/v1/run/', 404],
    ['/v1/x/../run', 400],
    ['/v1/x/%2e%2e/run', 400],
    ['/v1/%zz', 400],
    [`/${'a/'.repeat(300)}`, 400],
  ] as const)
    assert.equal((await send(here.url, path, { body: hello })).status, status, path)
  const { status, headers, json } = await send(here.url, '/v1/run', { method: 'PATCH' })
  assert.deepEqual([status, headers['allow'], json['code']], [405, 'POST', 'METHOD_NOT_ALLOWED'])
})

test('a token is bound to its scopes, and to the limits of its entry', async () => {
  await using reader = await serveHere({ scopes: ['admin'] })
  assert.equal((await send(reader.url, '/v1/run', { body: hello })).status, 403)
  await using here = await serveHere({ ada: { perMinute: 2, running: 1 } })
  const results = await Promise.all([1, 2].map(() => send(here.url, '/v1/run', { body: hello })))
  assert.deepEqual(new Set(results.map(({ status }) => status)), new Set([200, 429]))
  const hints = results.filter(({ status }) => status === 429).map(({ json }) => json['hint'])
  assert.deepEqual(new Set(hints), new Set(['Wait until one ends. The operator sets this with `--running`.']))
  assert.equal((await send(here.url, '/v1/run', { body: hello })).status, 200)
  const limited = await send(here.url, '/v1/run', { body: hello })
  assert.deepEqual([limited.status, limited.json['code']], [429, 'RATE_LIMITED'])
  assert.ok(Number(limited.headers['retry-after']) > 30)
  assert.equal((await send(here.url, '/v1/run', { body: hello, token: bobToken })).status, 200)
})

test('the bounds of bodies, headers and connections are named in the error', async () => {
  await using here = await serveHere({
    bounds: { bodyBytesMax: 1000, headerBytesMax: 4096, connectionsPerAddressMax: 2 },
  })
  const large = await send(here.url, '/v1/run', {
    body: { language: 'shell', code: `echo ${'x'.repeat(2000)}` },
  })
  assert.deepEqual([large.status, large.json['code']], [413, 'INPUT_TOO_LARGE'])
  assert.match(String(large.json['hint']), /--bound bodyBytesMax=/)
  const long = await sendRaw(
    here.url,
    `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(5000)}\r\n\r\n`,
  )
  assert.match(long, /^HTTP\/1\.1 431 /)
  const { port } = new URL(here.url)
  const sockets = [1, 2, 3].map(() => connect(Number(port), '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => undefined)
  const [, , last] = sockets
  assert.ok(last !== undefined)
  last.resume()
  await once(last, 'close')
  for (const socket of sockets) socket.destroy()
})

test('the bounds of all connections and of the work of one token are named in the error', async () => {
  await using few = await serveHere({ bounds: { connectionsMax: 1 } })
  const first = connect(Number(new URL(few.url).port), '127.0.0.1')
  await once(first, 'connect')
  const second = connect(Number(new URL(few.url).port), '127.0.0.1')
  second.on('error', () => undefined).resume()
  await once(second, 'close')
  first.destroy()
  await using busy = await serveHere({ bounds: { runningPerTokenMax: 1 } })
  const ends = await Promise.all([1, 2].map(() => send(busy.url, '/v1/run', { body: hello })))
  assert.deepEqual(new Set(ends.map(({ status }) => status)), new Set([200, 429]))
})

test('an endless body is rejected when it is too long, whatever length it declares', async () => {
  await using here = await serveHere({ bounds: { bodyBytesMax: 100_000 } })
  const socket = connect(Number(new URL(here.url).port), '127.0.0.1')
  socket.on('error', () => undefined)
  socket.write(
    `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\ntransfer-encoding: chunked\r\n\r\n`,
  )
  const chunk = `${(10_000).toString(16)}\r\n${'x'.repeat(10_000)}\r\n`
  const isOver = new Promise((resolve) => socket.once('close', resolve))
  let answer = ''
  socket.on('data', (piece) => (answer += String(piece)))
  let sent = 0
  while (!socket.destroyed && sent < 10_000_000) {
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), isOver]).catch(() => undefined)
    sent += chunk.length
  }
  await isOver
  assert.ok(sent < 10_000_000, `${sent} bytes were taken`)
  assert.match(answer, /^HTTP\/1\.1 413 |^$/)
})

test('ambiguous requests are refused, and so is anything but HTTP', async () => {
  await using here = await serveHere()
  const head = `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${adaToken}\r\n`
  const smuggled = `GET /v1/stats HTTP/1.1\r\nhost: localhost\r\n\r\n`
  for (const bytes of [
    `${head}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `${head}content-length: 5\r\ncontent-length: 50\r\n\r\nhello${smuggled}`,
    `${head}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
    `${head}content-length: -1\r\n\r\n${smuggled}`,
    `${head}content-length : 5\r\n\r\nhello${smuggled}`,
    `POST /v1/run HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n`,
    'GET /v1/stats HTTP/1.1\r\n\r\n',
    'nonsense\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01\x00',
  ]) {
    const answer = await sendRaw(here.url, bytes)
    assert.match(answer, /^HTTP\/1\.1 (400|403) /, JSON.stringify(bytes))
    assert.equal(answer.split('HTTP/1.1 ').length, 2, `answered twice: ${answer}`)
  }
})

test('`Expect: 100-continue` is refused without a token', async () => {
  await using here = await serveHere()
  const head = 'POST /v1/run HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 100\r\n'
  assert.match(await sendRaw(here.url, `${head}\r\n`), /^HTTP\/1\.1 401 /)
  assert.match(
    await sendRaw(here.url, `${head}authorization: Bearer ${adaToken}\r\n\r\n`),
    /^HTTP\/1\.1 100 /,
  )
})

test('health and readiness need no token, whatever the host, and allow no other method', async () => {
  await using here = await serveHere()
  for (const path of ['/healthz', '/readyz'])
    assert.deepEqual(
      [
        (await send(here.url, path, { token: null })).status,
        (await send(here.url, path, { method: 'POST' })).status,
      ],
      [200, 405],
    )
  const foreign = { token: null, headers: { host: '10.1.2.3', origin: 'https://evil.example' } }
  const { status, headers, text: body } = await send(here.url, '/healthz', foreign)
  assert.deepEqual([status, body, headers['access-control-allow-origin']], [200, 'ok\n', undefined])
})

test('metrics need the scope `admin`, also on this machine: behind a proxy every caller comes from it', async () => {
  await using here = await serveHere({ scopes: ['run', 'sandbox'] })
  for (const headers of [{}, { 'x-forwarded-for': '203.0.113.7' }])
    assert.equal((await send(here.url, '/metrics', { token: null, headers })).status, 401)
  assert.equal((await send(here.url, '/metrics', { token: adaToken })).status, 403)
  // The server of this test has no metrics.
  assert.equal((await send(here.url, '/metrics', { token: bobToken })).status, 404)
})
