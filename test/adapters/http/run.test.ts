/** `POST /v1/run`, as JSON and as events, and the routes of a running run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeValue } from '../../../src/core/values/values.ts'
import { eventually } from '../../support/eventually.ts'
import { findGuest, msUntilDead, sleepFor } from '../mcp/find-guest.ts'
import { adaToken, bobToken, eventsOf, open, send, serveHere, type ServerEvent } from './serve-here.ts'

const events = { accept: 'text/event-stream' }

test('a run over HTTP has the same outcome, value, files, and the name of its token as client', async () => {
  const clients: unknown[] = []
  await using here = await serveHere({ engine: { admit: (work) => void clients.push(work.client) } })
  const { status, json, headers } = await send(here.url, '/v1/run', {
    body: {
      language: 'python',
      code: 'import sys\nopen("out.txt", "w").write("kept")\nprint(input_data["a"], sys.stdin.read())\n{1, 2}',
      input: { a: 1 },
      stdin: { base64: Buffer.from('typed').toString('base64') },
      collect: ['out.txt'],
    },
  })
  assert.equal(status, 200)
  assert.deepEqual(json['outcome'], { kind: 'completed', exitCode: 0 })
  assert.deepEqual([json['stdout'], json['ok']], ['1 typed\n', true])
  assert.deepEqual(decodeValue(json['value']), new Set([1, 2]))
  assert.deepEqual(json['files'], {
    'out.txt': { mime: 'application/octet-stream', base64: Buffer.from('kept').toString('base64') },
  })
  assert.deepEqual(clients, ['ada'])
  assert.match(String(headers['x-request-id']), /^[\w-]{36}$/)
})

test('whatever the guest does is 200 with an outcome', async () => {
  await using here = await serveHere()
  for (const [code, kind] of [
    ['exit 3', 'completed'],
    ['kill -9 $$', 'killed'],
  ]) {
    const { status, json } = await send(here.url, '/v1/run', { body: { language: 'shell', code } })
    assert.deepEqual([status, (json['outcome'] as { kind: string }).kind], [200, kind])
  }
})

test('events of a run report its start, its output at once, and its end', async () => {
  await using here = await serveHere()
  const seen: ServerEvent[] = []
  const body = { language: 'shell', code: 'echo one; echo two >&2; printf "\\377"' }
  const response = await open(here.url, '/v1/run', {
    body,
    headers: { ...events, 'x-request-id': 'my-own-id' },
  })
  assert.equal(response.headers['content-type'], 'text/event-stream')
  for await (const event of eventsOf(response)) seen.push(event)
  assert.deepEqual(seen[0], { event: 'started', data: { id: 'my-own-id' } })
  assert.equal(seen.at(-1)?.event, 'result')
  const bytesOf = (stream: string): string =>
    seen
      .filter(({ event, data }) => event === 'output' && data['stream'] === stream)
      .map(({ data }) => data as { readonly text: string; readonly base64?: string })
      .map(({ base64, text }) => (base64 === undefined ? Buffer.from(text) : Buffer.from(base64, 'base64')))
      .map((bytes) => bytes.toString('latin1'))
      .join('')
  assert.equal(bytesOf('stdout'), 'one\n\xff')
  assert.equal(bytesOf('stderr'), 'two\n')
})

test('logs, displays, updates and clearing are events while the program runs', async () => {
  await using here = await serveHere()
  const heard = async (body: object): Promise<unknown[][]> => {
    const seen: unknown[][] = []
    for await (const { event, data } of eventsOf(await open(here.url, '/v1/run', { body, headers: events })))
      if (['log', 'display', 'clear'].includes(event)) seen.push([event, data])
    return seen
  }
  const logs = await heard({ language: 'javascript', code: "console.log('one'); console.error('two')" })
  assert.deepEqual(
    logs.map(([event, data]) => [event, { ...(data as object), atMs: 0 }]),
    [
      ['log', { level: 'log', text: 'one', atMs: 0 }],
      ['log', { level: 'error', text: 'two', atMs: 0 }],
    ],
  )
  const code = "it = display('a', display_id='it')\nit.update('b')\nclear_output(wait=True)\ndisplay('c')"
  assert.deepEqual(await heard({ language: 'python', code }), [
    ['display', { bundle: { 'text/plain': "'a'" }, displayId: 'it' }],
    ['display', { bundle: { 'text/plain': "'b'" }, displayId: 'it', isUpdate: true }],
    ['clear', { waits: true }],
    ['display', { bundle: { 'text/plain': "'c'" } }],
  ])
})

test('a refusal has the status, the text and the hint of the table of errors', async () => {
  await using here = await serveHere()
  const refused = await send(here.url, '/v1/run', { body: { language: 'cobol', code: '' }, headers: events })
  assert.equal(refused.status, 400)
  assert.equal(refused.headers['content-type'], 'application/problem+json')
  const { type, title, detail, code, kind, hint, retryable, requestId } = refused.json
  assert.deepEqual(
    { type, title, code, kind, hint, retryable },
    {
      type: 'urn:lazaret:error:invalid-request',
      title: 'The request is not valid.',
      code: 'INVALID_REQUEST',
      kind: 'refusal',
      hint: 'Correct what the message names.',
      retryable: false,
    },
  )
  assert.match(String(detail), /language: must be one of/)
  assert.equal(requestId, refused.headers['x-request-id'])
  for (const [body, said] of [
    ['{"language":', /JSON object/],
    ['[]', /JSON object/],
    [{ language: 'shell', code: '', client: 'root' }, /client: it is the name of the token/],
    [{ language: 'shell', code: '', onOutput: 1 }, /onOutput: .*event-stream/],
    [{ language: 'shell', code: '', onLog: 1 }, /onLog: .*event-stream/],
    [{ language: 'shell', code: '', onDisplay: 1 }, /onDisplay: .*event-stream/],
    [{ language: 'shell', code: '', onClear: 1 }, /onClear: .*event-stream/],
    [{ language: 'shell', code: '', stdin: { base64: '???' } }, /stdin: must be a string or/],
    [{ language: 'python', code: '', functions: ['f'] }, /event-stream/],
    [{ language: 'shell', code: '', nonsense: 1 }, /Unknown key "nonsense"/],
  ] as const) {
    const { status, json } = await send(here.url, '/v1/run', { body })
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(String(json['detail']), said)
  }
})

test('functions of the caller are called by events and answered by requests, only with the token of the run', async () => {
  await using here = await serveHere()
  const code =
    'print(add(1, {2}))\ntry:\n  add("no", 0)\nexcept Exception as error:\n  print(type(error).__name__, error)'
  const id = 'run-of-ada'
  const response = await open(here.url, '/v1/run', {
    body: { language: 'python', code, functions: ['add'] },
    headers: { ...events, 'x-request-id': id },
  })
  let stdout = ''
  for await (const { event, data } of eventsOf(response)) {
    if (event === 'result') stdout = String(data['stdout'])
    if (event !== 'call') continue
    const { call, name, args } = data
    assert.equal(name, 'add')
    const path = `/v1/run/${id}/calls/${String(call)}`
    const [first, second] = decodeValue(args) as [unknown, Set<number>]
    const body =
      first === 'no'
        ? { error: { name: 'ValueError', message: 'not a number' } }
        : { value: Number(first) + [...second].length }
    assert.equal((await send(here.url, path, { body, token: bobToken })).status, 404)
    assert.equal((await send(here.url, path, { body })).status, 204)
    assert.equal((await send(here.url, path, { body })).status, 404)
  }
  assert.match(stdout, /^2\n\w+ .*not a number/)
})

test('only its own token can cancel a run, whose output is kept', async () => {
  await using here = await serveHere()
  const id = 'to-be-cancelled'
  const answered = send(here.url, '/v1/run', {
    body: { language: 'shell', code: `echo ready; exec ${sleepFor(81_001)}` },
    headers: { 'x-request-id': id },
  })
  await eventually(() => (findGuest(81_001) === undefined ? 'it does not run' : undefined), 10_000)
  assert.equal((await send(here.url, `/v1/run/${id}`, { method: 'DELETE', token: bobToken })).status, 404)
  assert.notEqual(findGuest(81_001), undefined)
  const twice = await send(here.url, '/v1/run', {
    body: { language: 'shell', code: '' },
    headers: { 'x-request-id': id },
  })
  assert.equal(twice.status, 400)
  assert.equal((await send(here.url, `/v1/run/${id}`, { method: 'DELETE' })).status, 204)
  const { json } = await answered
  assert.deepEqual([json['outcome'], json['stdout']], [{ kind: 'cancelled' }, 'ready\n'])
})

test('disconnecting ends the client’s run, also in the queue', async () => {
  await using here = await serveHere({ engine: { queue: { runningMax: 1 } } })
  const body = { language: 'shell', code: `echo ready; exec ${sleepFor(81_002)}` }
  const response = await open(here.url, '/v1/run', { body, headers: events })
  const seen = eventsOf(response)
  assert.equal((await seen.next()).value?.event, 'started')
  assert.equal((await seen.next()).value?.event, 'output')
  let guest = findGuest(81_002)
  await eventually(
    () => ((guest = findGuest(81_002)) === undefined ? 'it does not sleep' : undefined),
    10_000,
  )
  const queued = openQueued(here.url)
  await eventually(() => (here.engine.lazaret.stats().waiting === 1 ? undefined : 'it does not wait'), 10_000)
  queued.abort()
  await eventually(() => (here.engine.lazaret.stats().waiting === 0 ? undefined : 'it still waits'), 10_000)
  response.destroy()
  assert.ok(guest !== undefined && (await msUntilDead(guest, 10_000)) < 10_000)
})

function openQueued(url: string): AbortController {
  const disconnect = new AbortController()
  fetch(`${url}/v1/run`, {
    method: 'POST',
    headers: { authorization: `Bearer ${adaToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ language: 'shell', code: 'echo late' }),
    signal: disconnect.signal,
  }).catch(() => undefined)
  return disconnect
}

test('fields that widen a request are refused unless both the token and the operator allow them', async () => {
  const engine = { access: { networks: ['none', 'host'], preload: true } } as const
  const asked = [
    { language: 'shell', code: '', network: 'host' },
    { language: 'python', code: '', preload: ['json'] },
  ]
  await using narrow = await serveHere({ engine })
  await using wide = await serveHere({ engine, allow: ['network', 'preload'] })
  await using denied = await serveHere({ allow: ['network', 'preload'] })
  for (const body of asked) {
    const { status, json } = await send(narrow.url, '/v1/run', { body })
    assert.deepEqual([status, json['code']], [403, 'ACCESS_DENIED'])
    assert.equal((await send(wide.url, '/v1/run', { body })).status, 200)
    assert.equal((await send(denied.url, '/v1/run', { body })).status, 403)
  }
})
