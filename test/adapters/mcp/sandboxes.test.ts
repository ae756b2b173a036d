/** Sandboxes over the protocol: a scripted agent that keeps variables, files and processes between its calls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'

import { ClientSandboxes } from '../../../src/adapters/mcp/sandboxes/client-sandboxes.ts'
import { requireRoom } from '../../../src/adapters/mcp/sandboxes/context-calls.ts'
import { serveOverHttp } from '../../../src/adapters/mcp/serve-http.ts'
import { parseTokens } from '../../../src/adapters/http/bearer-tokens.ts'
import { systemClock } from '../../../src/core/clock.ts'
import { defaultLimits } from '../../../src/core/limits.ts'
import type { Sandbox } from '../../../src/index.ts'
import { whyNoSandboxes } from '../../support/sandboxes-here.ts'
import { useLazaret } from '../../support/use-lazaret.ts'
import { type ClientKind, clientKinds, connect, type Connection, type ToolResult } from './connect.ts'

const { lazaret } = await useLazaret()
const skip = await whyNoSandboxes()
const sandboxTools = [
  ...['create_sandbox', 'run_code', 'execute_command', 'read_file'],
  ...['write_file', 'list_files', 'fork_context', 'close_context', 'close_sandbox'],
]
/** One pixel. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const data = ({ structuredContent = {} }: ToolResult): Record<string, unknown> => structuredContent

/** Polls until the condition holds. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let asked = 0; !(await isSo()); asked++) {
    assert.ok(asked < 3000, 'it never came to be')
    await pause(10)
  }
}

async function create(connection: Connection): Promise<string> {
  const made = await connection.call('create_sandbox')
  assert.equal(made.isError, undefined, JSON.stringify(made.content))
  return String(data(made)['sandbox_id'])
}

/** The work of an agent: write, run, plot, read the picture, start a server, return, close. */
async function plays(connection: Connection): Promise<void> {
  const { tools } = await connection.listTools()
  const names = tools.map(({ name }) => name)
  for (const name of sandboxTools) assert.ok(names.includes(name), name)
  const id = { sandbox_id: await create(connection) }
  const call = (name: string, args: Record<string, unknown>) => connection.call(name, { ...id, ...args })

  const written = await call('write_file', { path: '/workspace/data/sales.csv', content: '3\n4\n5\n' })
  assert.deepEqual(data(written), { bytes: 6 })
  const counted = await call('execute_command', { command: 'wc -l < data/sales.csv; cd data' })
  assert.deepEqual([data(counted)['stdout'], data(counted)['exitCode']], ['3\n', 0])
  assert.equal(data(await call('execute_command', { command: 'pwd' }))['stdout'], '/workspace/data\n')

  const set = await call('run_code', { code: 'rows = [int(r) for r in open("/workspace/data/sales.csv")]' })
  assert.deepEqual([data(set)['outcome'], data(set)['isStateKept']], ['completed', true])
  assert.equal(data(await call('run_code', { code: 'sum(rows)' }))['value'], 12)
  const own = { code: 'rows', context_id: 'another' }
  assert.equal(data(await call('run_code', own))['outcome'], 'failed')
  const js = { code: 'let n = 6; n * 7', language: 'javascript', context_id: 'js' }
  assert.equal(data(await call('run_code', js))['value'], 42)
  const mixed = await call('run_code', { ...js, language: 'python' })
  assert.match(JSON.stringify(data(mixed)['error']), /runs javascript/)

  const shown = await call('run_code', { code: `display({"image/png": "${png}"}, raw=True)` })
  assert.deepEqual(shown.content.at(-1), { type: 'image', data: png, mimeType: 'image/png' })
  await call('write_file', { path: '/workspace/plot.png', content: png, encoding: 'base64' })
  const picture = await call('read_file', { path: '/workspace/plot.png' })
  assert.deepEqual(picture.content.at(-1), { type: 'image', data: png, mimeType: 'image/png' })
  assert.equal(
    data(await call('read_file', { path: '/workspace/plot.png', encoding: 'base64' }))['content'],
    png,
  )
  assert.equal(data(await call('read_file', { path: '/workspace/data/sales.csv' }))['content'], '3\n4\n5\n')
  const listed = await call('list_files', { recursive: true })
  const paths = (data(listed)['entries'] as { path: string }[]).map(({ path }) => path)
  assert.deepEqual(paths.toSorted(), ['data', 'data/sales.csv', 'plot.png'])

  await playsWithContexts(call)
  await readsResources(connection, listed)
  await readsWhatItWrote(connection, call)

  const late = await call('run_code', { code: 'while True: pass', timeout_ms: 300 })
  assert.deepEqual([late.isError, data(late)['outcome']], [true, 'timed-out'])
  await call('execute_command', {
    command: 'python3 -m http.server 8123 --directory /workspace >/dev/null 2>&1 &',
  })
  await until(async () => {
    const get = `python3 -c 'import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:8123/data/sales.csv").read().decode())'`
    return data(await call('execute_command', { command: get }))['stdout'] === '3\n4\n5\n\n'
  })
  const missing = await call('read_file', { path: '/workspace/none' })
  assert.match(JSON.stringify([missing.isError, data(missing)['error']]), /true.*FILE_NOT_FOUND/)

  assert.deepEqual(data(await call('close_sandbox', {})), { isClosed: true })
  assert.match(JSON.stringify(data(await call('run_code', { code: '1' }))['error']), /SANDBOX_GONE/)
  assert.match(JSON.stringify(data(await call('close_sandbox', {}))['error']), /SANDBOX_GONE/)
}

type Call = (name: string, args: Record<string, unknown>) => Promise<ToolResult>

async function playsWithContexts(call: Call): Promise<void> {
  const run = async (context_id: string, code: string) => data(await call('run_code', { code, context_id }))
  await run('line', 'moves = ["e4"]')
  const fork = { context_id: 'line', new_context_id: 'attempt' }
  const forked = await call('fork_context', fork)
  if (forked.isError === true) assert.match(JSON.stringify(data(forked)['error']), /scopes of Landlock/)
  else {
    assert.deepEqual(data(forked), { context_id: 'attempt' })
    assert.deepEqual((await run('attempt', 'moves.append("e5"); moves'))['value'], ['e4', 'e5'])
    assert.match(JSON.stringify(data(await call('fork_context', fork))['error']), /INVALID_REQUEST/)
    assert.deepEqual(data(await call('close_context', { context_id: 'attempt' })), { isClosed: true })
  }
  assert.deepEqual((await run('line', 'moves'))['value'], ['e4'])
  assert.deepEqual(data(await call('close_context', { context_id: 'attempt' })), { isClosed: false })
  const none = await call('fork_context', { ...fork, context_id: 'none' })
  assert.match(JSON.stringify(data(none)['error']), /CONTEXT_GONE/)
  assert.deepEqual(data(await call('close_context', { context_id: 'line' })), { isClosed: true })
  assert.equal((await run('line', 'moves'))['outcome'], 'failed')
}

/** Only clients that support links get them, and each leads to the listed file. */
async function readsResources(connection: Connection, listed: ToolResult): Promise<void> {
  const uris = listed.content.flatMap(({ type, uri }) => (type === 'resource_link' ? [uri ?? ''] : []))
  assert.equal(uris.length, 2)
  const read = Object.fromEntries(
    await Promise.all(uris.map(async (uri) => [uri.split('/').at(-1), (await connection.read(uri))[0]])),
  ) as Record<string, Record<string, unknown>>
  assert.equal(read['sales.csv']?.['text'], '3\n4\n5\n')
  assert.deepEqual([read['plot.png']?.['mimeType'], read['plot.png']?.['blob']], ['image/png', png])
  const [one = ''] = uris
  await assert.rejects(connection.read(one.replace(/[^/]*$/, 'none')), /FILE_NOT_FOUND/)
  await assert.rejects(connection.read(one.replace(/^lazaret:..[^/]*/, 'lazaret://other')), /SANDBOX_GONE/)
}

/** The link of a written file leads to it, however its path was written. */
async function readsWhatItWrote(connection: Connection, call: Call): Promise<void> {
  const linksOf = ({ content }: ToolResult) => content.flatMap(({ uri }) => (uri === undefined ? [] : [uri]))
  const paths = ['top.txt', './a/b.txt', 'sp ace é#.txt', '%2e?.txt', '/workspace//c.txt', '/tmp/d.txt']
  for (const path of paths) {
    const [uri = '', ...more] = linksOf(await call('write_file', { path, content: path }))
    assert.deepEqual(more, [])
    assert.equal((await connection.read(uri))[0]?.['text'], path, uri)
  }
  const [uri = ''] = linksOf(await call('list_files', { path: 'a' }))
  assert.equal((await connection.read(uri))[0]?.['text'], './a/b.txt', uri)

  await call('execute_command', {
    command: 'mkdir -p /workspace/a/deep; ln -s /workspace/a/deep /workspace/link',
  })
  assert.deepEqual(linksOf(await call('write_file', { path: 'link/../e.txt', content: '' })), [])
  assert.deepEqual(linksOf(await call('list_files', { path: 'a/deep/../' })), [])
}

for (const kind of clientKinds) {
  test(
    `a ${kind} agent over stdio keeps variables, files and processes between calls`,
    { skip },
    async () => {
      await using connection = await connect(kind, { args: ['--sandboxes', '2'] })
      await plays(connection)
    },
  )
  test(`a ${kind} agent over HTTP keeps variables, files and processes between calls`, { skip }, async () => {
    await using served = await serve()
    await using connection = await connect(kind, { url: served.url, token: tokenOf('ada') })
    await plays(connection)
  })
}

const tokenOf = (name: string) => `${name}-0123456789abcdef`

async function serve({ perClientMax = 2, idleMs = 60_000 } = {}) {
  const sandboxes = new ClientSandboxes({ lazaret, clock: systemClock, perClientMax, idleMs })
  const host = { lazaret, sandboxes, limits: defaultLimits, version: '0', warn: () => undefined }
  const tokens = parseTokens(['ada', 'bob'].map((name) => `${name}:${tokenOf(name)}`).join('\n'))
  const service = await serveOverHttp({ host, port: 0, tokens })
  return {
    url: service.url,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await sandboxes[Symbol.asyncDispose]()
    },
  }
}

const modern: ClientKind = 'modern'

test(
  'a name that a guest chose is one line of a listing, and does not change its direction',
  { skip },
  async () => {
    await using served = await serve()
    await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
    const id = { sandbox_id: await create(ada) }
    await ada.call('execute_command', {
      ...id,
      command: String.raw`touch $'a\n(empty folder)\nkey.txt' $'txt\u202eexe' plain`,
    })
    const { content } = await ada.call('list_files', id)
    const [listing, ...links] = content.map(({ text, name }) => text ?? name)
    const names = [String.raw`"a\n(empty folder)\nkey.txt"`, 'plain', String.raw`"txt\u{202e}exe"`]
    assert.deepEqual(
      listing?.split('\n'),
      names.map((name) => `${name} (0 bytes)`),
    )
    assert.deepEqual(links, names)
  },
)

test('every text has a visible character, because some model APIs refuse others', { skip }, async () => {
  await using served = await serve()
  await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
  const id = { sandbox_id: await create(ada) }
  const textsOf = async (name: string, args: Record<string, unknown>) => {
    const { content } = await ada.call(name, { ...id, ...args })
    return content.flatMap(({ text }) => (text === undefined ? [] : [text]))
  }
  assert.deepEqual(await textsOf('list_files', {}), ['(empty folder)'])
  assert.deepEqual(await textsOf('execute_command', { command: 'echo; touch empty; echo > blank' }), [
    '(no output)',
  ])
  assert.deepEqual(await textsOf('read_file', { path: 'empty' }), ['(empty file)'])
  assert.deepEqual(await textsOf('read_file', { path: 'blank' }), ['(only white space)'])
  assert.deepEqual(await textsOf('read_file', { path: 'empty', encoding: 'base64' }), ['(empty file)'])
  const shows = { code: `display({"image/png": "${png}"}, raw=True)` }
  assert.deepEqual(await textsOf('run_code', shows), ['The program displayed 1 picture.'])
  assert.deepEqual(await textsOf('run_code', { code: 'print()' }), [
    'The program succeeded and printed nothing.',
  ])
})

test(
  'read_file says when bytes are not text, and how a tool reads the rest of a large file',
  { skip },
  async () => {
    await using served = await serve()
    await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
    const sandbox_id = await create(ada)
    const make = 'printf "caf\\xe9" > latin; printf "caf\\u00e9" > utf8; head -c 1048577 /dev/zero > large'
    await ada.call('execute_command', { sandbox_id, command: make })
    const read = (path: string, encoding = 'utf8') => ada.call('read_file', { sandbox_id, path, encoding })
    const latin = await read('latin')
    assert.equal(data(latin)['content'], 'caf\uFFFD')
    assert.match(String(data(latin)['note']), /base64/)
    assert.match(JSON.stringify(latin.content.at(-1)), /base64/)
    assert.deepEqual(data(await read('latin', 'base64')), { content: 'Y2Fm6Q==' })
    assert.deepEqual(data(await read('utf8')), { content: 'café' })
    assert.match(JSON.stringify(data(await read('large'))), /FILE_TOO_LARGE.*execute_command/)
    assert.match(JSON.stringify(data(await read('.'))), /NOT_A_FILE.*list_files/)
  },
)

test('a client can neither use the sandbox of another nor learn that it exists', { skip }, async () => {
  await using served = await serve()
  await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
  await using bob = await connect(modern, { url: served.url, token: tokenOf('bob') })
  const sandbox_id = await create(ada)
  const touches = {
    run_code: { code: '1' },
    execute_command: { command: 'true' },
    read_file: { path: '/workspace/a' },
    write_file: { path: '/workspace/a', content: '' },
    list_files: {},
    fork_context: { context_id: 'a', new_context_id: 'b' },
    close_context: { context_id: 'a' },
    close_sandbox: {},
  }
  const errorOf = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(data(await bob.call(name, args))['error'])
  for (const [name, args] of Object.entries(touches)) {
    const refused = await errorOf(name, { ...args, sandbox_id })
    assert.match(refused, /SANDBOX_GONE/, name)
    assert.equal(refused, await errorOf(name, { ...args, sandbox_id: 'none' }))
  }
  assert.equal(
    data(await ada.call('execute_command', { sandbox_id, command: 'echo mine' }))['stdout'],
    'mine\n',
  )
})

test('the number of contexts of a sandbox is limited, until one is closed', { skip }, async () => {
  await using sandbox = await lazaret.sandbox()
  const limits = { memoryBytes: 64 * 1024 * 1024 }
  for (let made = 0; made < 16; made++) {
    requireRoom(sandbox)
    await sandbox.createCodeContext({ id: `c${made}`, limits })
  }
  assert.throws(() => requireRoom(sandbox), {
    code: 'QUEUE_FULL',
    message: /close one with close_context/,
    retryable: false,
  })
  await sandbox.deleteCodeContext('c3')
  requireRoom(sandbox)
})

test('the number of sandboxes of a client is limited, independently of others', { skip }, async () => {
  await using served = await serve({ perClientMax: 1 })
  await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
  await using bob = await connect(modern, { url: served.url, token: tokenOf('bob') })
  const both = await Promise.all([ada.call('create_sandbox'), ada.call('create_sandbox')])
  const [made, refused] = both.toSorted((one) => (one.isError === true ? 1 : -1))
  assert.equal(made?.isError, undefined)
  assert.match(JSON.stringify(refused && data(refused)['error']), /QUEUE_FULL.*at most 1/)
  assert.equal(
    refused?.content[0]?.text,
    'refused: QUEUE_FULL: The client has too many sandboxes: at most 1.\nContinue in one that you have, or close one with close_sandbox. One without calls ends after 1 min.',
  )
  await create(bob)
  const { sandbox_id } = data(made as ToolResult)
  await ada.call('close_sandbox', { sandbox_id })
  await create(ada)
})

test('an unused sandbox ends, and its handle with it', { skip }, async () => {
  await using served = await serve({ perClientMax: 1, idleMs: 50 })
  await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
  const sandbox_id = await create(ada)
  await until(async () => lazaret.listSandboxes().length === 0)
  const ended = await ada.call('execute_command', { sandbox_id, command: 'true' })
  assert.match(JSON.stringify(data(ended)['error']), /SANDBOX_GONE/)
  await create(ada)
})

test('cancelling a call interrupts its code, and the variables stay', { skip }, async () => {
  await using served = await serve()
  await using ada = await connect(modern, { url: served.url, token: tokenOf('ada') })
  const sandbox_id = await create(ada)
  await ada.call('run_code', { sandbox_id, code: 'x = 1' })
  const abort = new AbortController()
  const code = 'open("/workspace/begun", "w").close()\nwhile True: pass'
  const cancelled = ada
    .call('run_code', { sandbox_id, code }, { signal: abort.signal })
    .catch(() => undefined)
  await until(async () => {
    const { entries } = data(await ada.call('list_files', { sandbox_id })) as { entries: unknown[] }
    return entries.length === 1
  })
  abort.abort()
  await cancelled
  assert.equal(data(await ada.call('run_code', { sandbox_id, code: 'x' }))['value'], 1)
})

test('without the option there are no such tools', async () => {
  const host = { lazaret, limits: defaultLimits, version: '0', warn: () => undefined }
  await using service = await serveOverHttp({ host, port: 0 })
  await using connection = await connect(modern, { url: service.url })
  const { tools } = await connection.listTools()
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['execute_code'],
  )
})

test('a sandbox whose client has cancelled the call is not kept', { skip }, async () => {
  const made: Sandbox[] = []
  const sandbox: typeof lazaret.sandbox = async (options) => {
    made.push(await lazaret.sandbox(options))
    return made.at(-1) as Sandbox
  }
  await using sandboxes = new ClientSandboxes({ lazaret: { sandbox }, clock: systemClock, perClientMax: 1 })
  const cancelled = new AbortController()
  const creating = sandboxes.create('ada', cancelled.signal)
  cancelled.abort()
  await assert.rejects(creating, { code: 'SANDBOX_GONE' })
  // It does not count towards the client's maximum either.
  await sandboxes.create('ada', new AbortController().signal)
  assert.deepEqual(
    made.map(({ isGone }) => isGone),
    [true, false],
  )
})
