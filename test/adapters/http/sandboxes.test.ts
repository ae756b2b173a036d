/** The owners of sandboxes, and what their routes refuse. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ApiTokens, formatTokenFile } from '../../../src/adapters/http/api-tokens.ts'
import { hashOf } from '../../../src/adapters/http/bearer-tokens.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { eventually } from '../../support/eventually.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { adaToken, bobToken, eventsOf, open, type Sent, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

test(
  'for other tokens a sandbox does not exist: every route answers as for an unknown one',
  { skip },
  async () => {
    await using here = await serveHere()
    const made = await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
    assert.deepEqual([made.status, made.headers['location']], [201, '/v1/sandboxes/box'])
    await send(here.url, '/v1/sandboxes/box/processes', { body: { command: 'sleep 86001', id: 'p' } })
    const routes: readonly (readonly [string, Sent])[] = [
      ['', {}],
      ['', { method: 'DELETE' }],
      ['/exec', { body: { command: 'true' } }],
      ['/variables', { method: 'PUT', body: {} }],
      ['/sessions', { body: {} }],
      ['/sessions/default', {}],
      ['/files/a', {}],
      ['/files/a', { method: 'PUT', body: 'x' }],
      ['/files/a', { method: 'DELETE' }],
      ['/files/?list', {}],
      ['/archive', {}],
      ['/archive', { method: 'PUT', body: '' }],
      ['/rename', { body: { from: 'a', to: 'b' } }],
      ['/processes', {}],
      ['/processes', { body: { command: 'true' } }],
      ['/processes/p', {}],
      ['/processes/p', { method: 'DELETE' }],
      ['/processes/p/logs', {}],
      ['/processes/p/signal', { body: { signal: 'SIGKILL' } }],
      ['/processes/p/wait', { body: {} }],
      ['/contexts', {}],
      ['/contexts', { body: {} }],
      ['/contexts/c', { method: 'DELETE' }],
      ['/contexts/c/run', { body: { code: '1' } }],
      ['/code', { body: { code: '1' } }],
    ]
    for (const [path, sent] of routes) {
      const asBob = { ...sent, token: bobToken, headers: { 'x-request-id': 'the-same-id' } }
      const others = await send(here.url, `/v1/sandboxes/box${path}`, asBob)
      const nobodys = await send(here.url, `/v1/sandboxes/never${path}`, asBob)
      assert.equal(others.status, 404, path)
      assert.equal(others.text, nobodys.text, path)
      const { date: _one, ...oneHeaders } = others.headers
      const { date: _two, ...twoHeaders } = nobodys.headers
      assert.deepEqual(oneHeaders, twoHeaders, path)
    }
    assert.deepEqual((await send(here.url, '/v1/sandboxes', { token: bobToken })).json, { sandboxes: [] })
    const { json } = await send(here.url, '/v1/sandboxes/box/processes/p')
    assert.equal(json['status'], 'running')
    // Another token may use the same name, for a different sandbox.
    assert.equal(
      (await send(here.url, '/v1/sandboxes', { body: { id: 'box' }, token: bobToken })).status,
      201,
    )
    assert.deepEqual((await send(here.url, '/v1/sandboxes/box/processes', { token: bobToken })).json, {
      processes: [],
    })
  },
)

test('no path leads out of its sandbox', { skip }, async () => {
  await using here = await serveHere()
  for (const id of ['one', 'two'])
    await send(here.url, '/v1/sandboxes', { body: { id, files: { name: id } } })
  const read = async (path: string): Promise<string> => {
    const { status, text } = await send(here.url, `/v1/sandboxes/one/files/${path}`)
    return status === 200 ? text : String(status)
  }
  assert.equal(await read('name'), 'one')
  assert.equal(await read('%2Fworkspace%2Fname'), 'one')
  for (const path of [
    '../../two/files/name',
    '..%2F..%2Ftwo%2Ffiles%2Fname',
    '%2e%2e/%2e%2e/two/files/name',
    '%00',
    '%ff',
  ])
    assert.match(await read(path), /^(400|404)$/, path)
  // If the guest has its own /tmp, it cannot reach this file of the host.
  writeFileSync(join(tmpdir(), `lazaret-host-${process.pid}`), 'of the host')
  assert.equal(await read(encodeURIComponent(join(tmpdir(), `lazaret-host-${process.pid}`))), '404')
  rmSync(join(tmpdir(), `lazaret-host-${process.pid}`))
  await send(here.url, '/v1/sandboxes/one/exec', {
    body: { command: 'ln -s / everything; ln -s /proc/1/root out' },
  })
  assert.match(await read('out/workspace/name'), /^(403|404)$/)
  assert.equal(await read('everything/workspace/name'), 'one')
})

test(
  'files of a guest are sent as downloads that browsers do not execute, in ranges on request',
  { skip },
  async () => {
    await using here = await serveHere()
    await send(here.url, '/v1/sandboxes', {
      body: { id: 'box', files: { 'page.html': '<script>alert(1)</script>' } },
    })
    const path = '/v1/sandboxes/box/files/page.html'
    const { headers } = await send(here.url, path)
    assert.deepEqual(
      [headers['content-type'], headers['content-disposition'], headers['x-content-type-options']],
      ['application/octet-stream', 'attachment', 'nosniff'],
    )
    for (const [range, status, text] of [
      ['bytes=0-7', 206, '<script>'],
      ['bytes=-9', 206, '</script>'],
      ['bytes=16-', 206, '</script>'],
      ['bytes=20-9999', 206, 'ript>'],
      ['bytes=25-', 416, ''],
      ['bytes=5-1', 416, ''],
      ['bytes=0-1,3-4', 200, '<script>alert(1)</script>'],
      ['lines=1-2', 200, '<script>alert(1)</script>'],
    ] as const) {
      const answer = await send(here.url, path, { headers: { range } })
      assert.deepEqual([answer.status, answer.text], [status, text], range)
    }
    const head = await send(here.url, path, { method: 'HEAD' })
    assert.deepEqual(
      [head.status, head.headers['content-length'], head.headers['x-file-type']],
      [200, '25', 'file'],
    )
    assert.equal((await send(here.url, `${path}?nonsense`)).status, 400)
  },
)

test('options that widen a sandbox are refused unless the token names them', { skip }, async () => {
  await using here = await serveHere({
    engine: { access: { networks: ['none', 'host'], readable: ['/usr'] } },
  })
  for (const body of [
    { network: 'host' },
    { readable: [{ host: '/usr', guest: '/extra' }] },
    { workspace: '/tmp' },
    { allowDegradedSecrets: true },
    { protectedPorts: [] },
  ]) {
    const { status, json } = await send(here.url, '/v1/sandboxes', { body })
    assert.deepEqual([status, json['code']], [403, 'ACCESS_DENIED'], JSON.stringify(body))
    assert.match(String(json['hint']), /--allow (network|readable|workspace|degraded-secrets)/)
  }
  assert.deepEqual(here.engine.lazaret.listSandboxes(), [])
  await using wide = await serveHere({ engine: { access: { readable: ['/usr'] } }, allow: ['readable'] })
  const body = { readable: [{ host: '/usr/share', guest: '/extra' }] }
  assert.equal((await send(wide.url, '/v1/sandboxes', { body })).status, 201)
})

test('the number of sandboxes of a token is limited, and a revoked one has none', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lazaret-tokens-'))
  const path = join(folder, 'tokens.json')
  const write = (...tokens: readonly (readonly [string, string])[]): void =>
    writeFileSync(
      path,
      formatTokenFile(
        tokens.map(([name, token]) => ({ name, sha256: hashOf(token).toString('hex'), scopes: ['sandbox'] })),
      ),
      { mode: 0o600 },
    )
  write(['ada', adaToken], ['bob', bobToken])
  const file = new ApiTokens({ path }, { clock: systemClock, warn: () => undefined })
  await using here = await serveHere({ source: file, bounds: { sandboxesPerTokenMax: 2 } })
  const create = async (token: string): Promise<number> =>
    (await send(here.url, '/v1/sandboxes', { body: {}, token })).status
  assert.deepEqual(
    (await Promise.all([1, 2, 3].map(() => create(adaToken)))).toSorted(byNumber),
    [201, 201, 429],
  )
  assert.equal(await create(bobToken), 201)
  const [first] = here.engine.lazaret.listSandboxes()
  const { sandboxes } = (await send(here.url, '/v1/sandboxes')).json as { sandboxes: { id: string }[] }
  const running = open(here.url, `/v1/sandboxes/${sandboxes[0]?.id}/exec`, {
    body: { command: 'echo ready; sleep 86002' },
    headers: { accept: 'text/event-stream' },
  })
  const events = eventsOf(await running)
  while ((await events.next()).value?.event !== 'output');
  write(['bob', bobToken])
  await eventually(
    () => (here.engine.lazaret.listSandboxes().length === 1 ? undefined : 'ada has some left'),
    20_000,
  )
  assert.equal(first?.isAlive, false)
  assert.equal(await create(adaToken), 401)
  assert.equal(await create(bobToken), 201)
  writeFileSync(path, 'garbage')
  await eventually(
    () => (file.find(`Bearer ${bobToken}`) === undefined ? undefined : 'bob is admitted'),
    20_000,
  )
  assert.equal(here.engine.lazaret.listSandboxes().length, 2)
  rmSync(folder, { recursive: true })
})

const byNumber = (one: number, other: number): number => one - other

test('each operation on files counts as work of its token', { skip }, async () => {
  const operations: readonly (readonly [string, Sent])[] = [
    ['/files/a', { method: 'PUT', body: 'x' }],
    ['/files/a', { method: 'HEAD' }],
    ['/files/a', {}],
    ['/rename', { body: { from: 'a', to: 'b' } }],
    ['/move', { body: { from: 'b', to: 'c' } }],
    ['/files/c', { method: 'DELETE' }],
  ]
  // Creating the sandbox counts, too.
  await using here = await serveHere({ ada: { perMinute: 1 + operations.length } })
  await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
  for (const [path, sent] of operations) {
    const { status } = await send(here.url, `/v1/sandboxes/box${path}`, sent)
    assert.ok(status < 300, `${path}: ${status}`)
  }
  for (const [path, sent] of operations)
    assert.equal((await send(here.url, `/v1/sandboxes/box${path}`, sent)).status, 429, path)
})
