/** The OpenAPI description, as other tools read it. All replies in the suites must match it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { errorTable } from '../../../src/core/errors/errors.ts'
import { routes } from '../../../src/adapters/http/routes/all-routes.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { requireDescribedEvent, requireSchema } from './described.ts'
import { adaToken, eventsOf, open, send, serveHere } from './serve-here.ts'

const skip = await whyNoSandboxes()

test('every route is described, with the schemas of the requests that the engine parses', async () => {
  await using here = await serveHere({ scopes: ['sandbox'] })
  const { json } = await send(here.url, '/openapi.json')
  const { paths, components } = json as unknown as {
    paths: Record<string, Record<string, object>>
    components: {
      schemas: Record<string, { properties?: Record<string, object>; additionalProperties?: boolean }>
    }
  }
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  assert.deepEqual(
    described.toSorted(),
    routes.map(({ method, path }) => `${method} ${path.replace('...}', '}')}`).toSorted(),
  )
  const { RunRequest, Problem } = components.schemas
  assert.deepEqual(RunRequest?.properties?.['language'], {
    type: 'string',
    enum: ['javascript', 'typescript', 'python', 'shell'],
  })
  assert.equal(RunRequest?.additionalProperties, false)
  assert.deepEqual(Problem?.properties?.['code'], { type: 'string', enum: Object.keys(errorTable) })
  const refs = [...JSON.stringify(json).matchAll(/"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name = '']) => name,
  )
  assert.deepEqual([...new Set(refs)].toSorted(), Object.keys(components.schemas).toSorted())
})

test('the flags of a query are described with the values that they take', async () => {
  await using here = await serveHere({ scopes: ['sandbox'] })
  const { json } = await send(here.url, '/openapi.json')
  const { paths } = json as unknown as {
    paths: Record<string, Record<string, { parameters: readonly { name: string; schema: object }[] }>>
  }
  const parameters = paths['/v1/sandboxes/{id}/files/{path}']?.['get']?.parameters ?? []
  const schemaOf = (wanted: string) => parameters.find(({ name }) => name === wanted)?.schema
  assert.deepEqual(schemaOf('list'), { type: 'string', enum: ['', 'true', 'false'] })
  assert.deepEqual(schemaOf('entriesMax'), { type: 'string' })
})

test('a result that lacks something, or has undescribed fields, is detected', () => {
  assert.throws(() => requireSchema('#/components/schemas/Session', '{"id":"a"}'))
  assert.throws(() => requireSchema('#/components/schemas/Session', '{"id":"a","cwd":"/","more":1}'))
  requireSchema('#/components/schemas/Session', '{"id":"a","cwd":"/"}')
})

test('events and results conform to the description', { skip }, async () => {
  await using here = await serveHere()
  await send(here.url, '/v1/sandboxes', { body: { id: 'box' } })
  const shows = "it = display('a', display_id='it')\nit.update('b')\nclear_output()\nprint('c')"
  const logs = "console.error('a'); throw new Error('no')"
  for (const [path, body, named] of [
    ['/v1/run', { language: 'python', code: shows }, ['clear', 'display', 'output', 'result', 'started']],
    ['/v1/run', { language: 'javascript', code: logs }, ['log', 'output', 'result', 'started']],
    ['/v1/run', { language: 'shell', code: 'sleep 9', limits: { wallMs: 50 } }, ['result', 'started']],
    ['/v1/sandboxes/box/exec', { command: 'echo hi' }, ['output', 'result', 'started']],
    ['/v1/sandboxes/box/code', { code: shows }, ['clear', 'display', 'output', 'result', 'started']],
    [
      '/v1/sandboxes/box/code',
      { language: 'javascript', code: logs },
      ['log', 'output', 'result', 'started'],
    ],
  ] as const) {
    const names = new Set<string>()
    const response = await open(here.url, path, { body, headers: { accept: 'text/event-stream' } })
    // Reading an event compares it with its description.
    for await (const { event } of eventsOf(response)) names.add(event)
    assert.deepEqual([...names].toSorted(), named, `${path} ${JSON.stringify(body)}`)
  }
})

test('an undescribed event or field of an event is detected', () => {
  const of = { method: 'POST', path: '/v1/run' }
  requireDescribedEvent({ ...of, event: 'clear', data: { waits: true } })
  for (const [event, data] of [
    ['clear', { waits: true, more: 1 }],
    ['clear', {}],
    ['nothing', {}],
  ] as const)
    assert.throws(() => requireDescribedEvent({ ...of, event, data }))
})

test('a snippet request works like the tool, on behalf of its token', async () => {
  const clients: unknown[] = []
  await using here = await serveHere({ engine: { admit: (work) => void clients.push(work.client) } })
  const snippet = (body: object) => send(here.url, '/v1/snippet', { body })
  assert.deepEqual((await snippet({ source: 'emit(read_input() + 1)', input: '4' })).json, { output: '41' })
  assert.deepEqual(clients, ['ada'])
  assert.deepEqual((await snippet({ source: 'for (;;);', limits: { wall_ms: 20 } })).json, {
    error: { code: 'TIMEOUT', message: 'execution exceeded 20 ms' },
  })
  assert.equal(((await snippet({})).json['error'] as { code: string }).code, 'INVALID_INPUT')
})

test('only the operator gets statistics and the probe of the machine', async () => {
  await using here = await serveHere()
  const { json } = await send(here.url, '/v1/stats')
  assert.deepEqual([json['running'], json['waiting']], [0, 0])
  assert.equal(typeof (await send(here.url, '/v1/probe')).json['level'], 'string')
  await using others = await serveHere({ scopes: ['run', 'sandbox'] })
  for (const path of ['/v1/stats', '/v1/probe'])
    assert.equal((await send(others.url, path, { token: adaToken })).status, 403)
})
