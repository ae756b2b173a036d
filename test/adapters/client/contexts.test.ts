/** Code contexts on a server behave like those in this process, and belong to their token. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectLazaret } from '../../../src/adapters/client/index.ts'
import type { RemoteSandbox } from '../../../src/adapters/client/index.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { adaToken, bobToken, eventsOf, type Here, open, send, serveHere } from '../http/serve-here.ts'

const skip = await whyNoSandboxes()

interface Opened extends AsyncDisposable {
  readonly here: Here
  readonly sandbox: RemoteSandbox
}

async function openSandbox(): Promise<Opened> {
  const here = await serveHere()
  const sandbox = await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  return { here, sandbox, [Symbol.asyncDispose]: () => here[Symbol.asyncDispose]() }
}

test(
  'state persists between pieces of code; output, displays, values and errors arrive at once',
  { skip },
  async () => {
    await using opened = await openSandbox()
    const { sandbox } = opened
    const context = await sandbox.createCodeContext({ id: 'notes', language: 'python' })
    assert.deepEqual([context.id, context.language, context.cwd], ['notes', 'python', '/workspace'])
    await context.runCode('x = {1, 2}')
    const received: string[] = []
    const result = await context.runCode('import sys\nprint("out")\nprint("err", file=sys.stderr)\nx', {
      onStdout: (text) => received.push(`out ${text}`),
      onStderr: (text) => received.push(`err ${text}`),
      onResult: (bundle) => received.push(`result ${bundle['text/plain']}`),
    })
    assert.deepEqual(received.toSorted(), ['err err\n', 'out out\n', 'result {1, 2}'])
    assert.deepEqual([result.value, result.context, result.isStateKept], [new Set([1, 2]), 'notes', true])
    assert.ok(result.receipt.layers.length > 0)
    const errors: string[] = []
    const failed = await context.runCode('1 / 0', { onError: ({ name }) => errors.push(name) })
    assert.deepEqual([failed.outcome.kind, errors], ['failed', ['ZeroDivisionError']])
    const asked = await context.runCode('input("name? ")', { onInput: (prompt) => `ada, who read ${prompt}` })
    assert.equal(asked.value, 'ada, who read name? ')
    assert.equal((await sandbox.runCode('1 + 1', { language: 'javascript' })).value, 2)
    assert.equal((await sandbox.runCode('len(x)', { context: 'notes' })).value, 2)
    assert.equal((await sandbox.listCodeContexts()).length, 2)
    assert.equal((await (await sandbox.getCodeContext('notes'))?.look())?.status, 'idle')
    const logged: unknown[] = []
    const { logs } = await sandbox.runCode("console.log('one'); console.warn('two'); display('three')", {
      language: 'javascript',
      onLog: (entry) => void logged.push(entry),
      onResult: (bundle) => void logged.push(bundle),
    })
    assert.deepEqual([logged, logs.length], [[...logs, { 'text/plain': "'three'" }], 2])
    await context.runCode('rows = [1]')
    assert.deepEqual(await context.complete('rows.app'), ['append'])
    const fork = await context.fork({ id: 'twin' })
    assert.deepEqual([fork.id, (await fork.runCode('len(x)')).value], ['twin', 2])
    await context.restart()
    assert.equal((await context.runCode('x')).outcome.kind, 'failed')
    assert.equal(await sandbox.deleteCodeContext('notes'), true)
    assert.equal(await sandbox.deleteCodeContext('notes'), false)
    assert.equal(await sandbox.getCodeContext('notes'), undefined)
    await assert.rejects(context.runCode('1'), { code: 'CONTEXT_GONE' })
  },
)

test(
  'a timeout, a cancellation or an interruption ends endless code, and the state persists',
  { skip },
  async () => {
    await using opened = await openSandbox()
    const context = await opened.sandbox.createCodeContext()
    await context.runCode('x = 5')
    const loop = 'print("ready", flush=True)\nwhile True: pass'
    const late = await context.runCode('while True: pass', { timeout: 100 })
    assert.equal(late.outcome.kind, 'timed-out')
    assert.ok(late.note !== undefined && late.toText().endsWith(late.note), late.toText())
    const { context: id, isStateKept, note } = JSON.parse(JSON.stringify(late)) as typeof late
    assert.deepEqual([id, isStateKept, note], [context.id, true, late.note])
    const controller = new AbortController()
    const cancelled = await context.runCode(loop, {
      signal: controller.signal,
      onStdout: () => controller.abort(),
    })
    assert.deepEqual([cancelled.outcome.kind, cancelled.stdout], ['cancelled', 'ready\n'])
    const interrupted = await context.runCode(loop, { onStdout: () => void context.interrupt() })
    assert.equal(interrupted.outcome.kind, 'cancelled')
    assert.equal(await context.interrupt(), false)
    assert.equal((await context.runCode('x')).value, 5)
  },
)

test('disconnecting ends the running code of the client, and nothing else', { skip }, async () => {
  await using opened = await openSandbox()
  const { here, sandbox } = opened
  const context = await sandbox.createCodeContext({ id: 'c' })
  await context.runCode('x = 7')
  const response = await open(here.url, '/v1/sandboxes/box/contexts/c/run', {
    body: { code: 'print("ready", flush=True)\nwhile True: pass', timeout: null },
    headers: { accept: 'text/event-stream' },
  })
  for await (const { event } of eventsOf(response)) if (event === 'output') break
  response.destroy()
  assert.equal((await context.runCode('x')).value, 7)
})

test('contexts belong to one token, and what JSON cannot express is refused', { skip }, async () => {
  await using opened = await openSandbox()
  const { url } = opened.here
  const base = '/v1/sandboxes/box/contexts'
  const made = await send(url, base, { body: { id: 'c' } })
  assert.deepEqual([made.status, made.headers['location']], [201, `${base}/c`])
  const statusOf = async (path: string, body: object | undefined, token = adaToken): Promise<number> =>
    (await send(url, base + path, { token, ...(body !== undefined && { body }) })).status
  assert.equal(await statusOf('/c/run', { code: '1' }), 200)
  for (const [path, body] of [
    ['', undefined],
    ['', {}],
    ['/c', undefined],
    ['/c/run', { code: '1' }],
    ['/c/complete', { text: 'x' }],
    ['/c/interrupt', {}],
    ['/c/restart', {}],
  ] as const)
    assert.equal(await statusOf(path, body, bobToken), 404, path)
  for (const body of [
    { code: 1 },
    { code: '1', context: 'other' },
    { code: '1', onStdout: true },
    { code: '1', onLog: true },
    { code: '1', asks: true },
    { code: '1', signal: 'now' },
    { code: '1', more: 1 },
  ])
    assert.equal(await statusOf('/c/run', body), 400, JSON.stringify(body))
  for (const text of ['pri', 'x'.repeat(1_000_000)])
    assert.equal(await statusOf('/c/complete', { text }), 200)
  for (const body of [{}, { text: 1 }, { text: 'x', more: 1 }])
    assert.equal(await statusOf('/c/complete', body), 400, JSON.stringify(body))
  assert.equal(await statusOf('', { functions: ['f'] }), 400)
  assert.equal(await statusOf('', { language: 'shell' }), 400)
  assert.equal((await send(url, `${base}/none`)).json['code'], 'CONTEXT_GONE')
})
