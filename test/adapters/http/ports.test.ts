/**
 * Ports of a sandbox over HTTP: only for tokens that may expose them, at a separate origin, until they or the sandbox
 * end.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectLazaret } from '../../../src/adapters/client/index.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { guestServer } from '../../sandbox/ports/guest-server.ts'
import { adaToken, bobToken, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()
const ports = '/v1/sandboxes/box/ports'

test('a token exposes ports only if its entry allows it', { skip }, async () => {
  await using here = await serveHere()
  await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
  for (const body of [{ port: 3000 }, {}, { port: null }]) {
    const { status, json } = await send(here.url, ports, { body })
    assert.deepEqual([status, json['code']], [403, 'ACCESS_DENIED'])
    assert.match(String(json['hint']), /--allow ports/)
  }
})

test('a server of a sandbox is reachable at its own port until that is closed', { skip }, async () => {
  await using here = await serveHere({ allow: ['ports'] })
  const remote = connectLazaret({ url: here.url, token: adaToken })
  await using sandbox = await remote.sandbox({ id: 'box', files: { 'server.mjs': guestServer } })
  const server = await sandbox.startProcess('node server.mjs 127.0.0.1')
  await server.waitForPort(3000)
  const exposed = await sandbox.exposePort(3000)
  const { hostname, origin } = new URL(exposed.url)
  assert.equal(hostname, '127.0.0.1')
  assert.notEqual(origin, new URL(here.url).origin)
  assert.equal(await (await fetch(`${exposed.url}/hello`)).text(), 'hello\n')
  await assert.rejects(sandbox.exposePort(3000), { code: 'INVALID_REQUEST', message: /already exposed/ })
  // For another token it does not exist.
  const ofBob = { method: 'DELETE', token: bobToken }
  assert.equal((await send(here.url, `${ports}/3000`, ofBob)).status, 404)
  assert.equal(await (await fetch(`${exposed.url}/hello`)).text(), 'hello\n')
  await exposed.close()
  await assert.rejects(fetch(`${exposed.url}/hello`))
  await exposed.close()
  const again = await sandbox.exposePort(3000)
  assert.equal(await (await fetch(`${again.url}/hello`)).text(), 'hello\n')
  await sandbox.destroy()
  await assert.rejects(fetch(`${again.url}/hello`))
  await again.close()
})

test('invalid ports and options are refused', { skip }, async () => {
  await using here = await serveHere({ allow: ['ports'] })
  await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
  for (const body of [{}, { port: 0 }, { port: 65_536 }, { port: '3000' }, { port: 3000, host: '0.0.0.0' }])
    assert.equal((await send(here.url, ports, { body })).status, 400, JSON.stringify(body))
  for (const port of ['3000', 'x', '-1', '3000.0'])
    assert.equal((await send(here.url, `${ports}/${port}`, { method: 'DELETE' })).status, 404, port)
})
