/** Pages of other origins: only those that the operator has named can read answers, and they still need a token. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { send, type Sent, serveHere } from './serve-here.ts'

const app = 'https://app.example'
const hello: Sent = { body: { language: 'shell', code: 'echo hello' } }
const fromPage = (origin: string): Sent => ({
  ...hello,
  headers: { origin, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
})
const question = (origin: string): Sent => ({
  method: 'OPTIONS',
  token: null,
  headers: {
    origin,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  },
})

test('a page of an allowed origin passes the preflight, can call with a token, and can read the answer', async () => {
  await using here = await serveHere({ origins: [app] })
  const asked = await send(here.url, '/v1/run', question(app))
  assert.equal(asked.status, 204)
  assert.equal(asked.headers['access-control-allow-origin'], app)
  assert.match(asked.headers['access-control-allow-headers'] ?? '', /\bauthorization\b/)
  const ran = await send(here.url, '/v1/run', fromPage(app))
  assert.deepEqual(
    [ran.status, ran.headers['access-control-allow-origin'], ran.headers['vary']],
    [200, app, 'origin'],
  )
  assert.equal(ran.headers['access-control-allow-credentials'], undefined)
  const without = await send(here.url, '/v1/run', { ...fromPage(app), token: null })
  assert.deepEqual([without.status, without.headers['access-control-allow-origin']], [401, app])
})

test('other origins are refused, however similar, and learn nothing', async () => {
  await using here = await serveHere({ origins: [app] })
  for (const origin of [
    'https://app.example.evil.example',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example/',
    'HTTPS://APP.EXAMPLE',
    'null',
    '*',
    '',
  ])
    for (const sent of [fromPage(origin), question(origin)]) {
      const { status, headers, text } = await send(here.url, '/v1/run', sent)
      assert.equal(status, 403, origin)
      assert.match(text, /with `--cors <origin>`/, origin)
      assert.equal(headers['access-control-allow-origin'], undefined, origin)
    }
  // The name of a foreign host that resolves to this machine (DNS rebinding) is refused, whatever the origin.
  const rebound = { ...fromPage(app), headers: { ...fromPage(app).headers, host: 'app.example' } }
  assert.equal((await send(here.url, '/v1/run', rebound)).status, 403)
})
