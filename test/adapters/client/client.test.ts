/**
 * What `lazaret/client` adds to the contract of runs: the caller's functions, errors, retries and broken connections.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { connectLazaret, LazaretError } from '../../../src/adapters/client/index.ts'
import { adaToken, serveHere } from '../http/serve-here.ts'

test('functions of the caller are called with live values, and what they throw reaches the guest', async () => {
  await using here = await serveHere()
  const lazaret = connectLazaret({ url: here.url, token: adaToken })
  const seen: unknown[] = []
  const { stdout, value } = await lazaret.run({
    language: 'javascript',
    code: `
      const found = await lookup(new Map([['id', 7n]]), new Uint8Array([1, 2]))
      console.log(found instanceof Date)
      try { await fail() } catch (error) { console.log(error.message) }
      found.getTime()`,
    functions: {
      lookup(this: { signal: AbortSignal }, ...args: unknown[]) {
        seen.push(...args, this.signal.aborted)
        return new Date(5)
      },
      async fail() {
        throw new RangeError('not today')
      },
    },
  })
  assert.deepEqual(seen, [new Map([['id', 7n]]), new Uint8Array([1, 2]), false])
  assert.match(stdout, /^true\n.*not today\n$/)
  assert.equal(value, 5)
})

test('logs and displays arrive while the program runs, and no faster than the caller takes them', async () => {
  await using here = await serveHere()
  const lazaret = connectLazaret({ url: here.url, token: adaToken })
  const received: unknown[] = []
  let isBusy = false
  const take = async (what: unknown): Promise<void> => {
    assert.equal(isBusy, false, 'called again while a promise was pending')
    isBusy = true
    await new Promise<void>((resolve) => setImmediate(resolve))
    received.push(what)
    isBusy = false
  }
  const { logs } = await lazaret.run({
    language: 'javascript',
    code: "console.log('one'); console.warn('two')",
    onLog: take,
  })
  assert.deepEqual([received.splice(0), logs.length], [logs, 2])
  const { displays } = await lazaret.run({
    language: 'python',
    code: "it = display('a', display_id='it')\nit.update('b')\nclear_output()\ndisplay('c')",
    onDisplay: (bundle, facts) => take([bundle['text/plain'], facts]),
    onClear: (waits) => take(waits),
  })
  assert.deepEqual(received, [
    ["'a'", { displayId: 'it' }],
    ["'b'", { displayId: 'it', isUpdate: true }],
    false,
    ["'c'", {}],
  ])
  assert.deepEqual(displays, [{ 'text/plain': "'c'" }])
  const mistake = new TypeError('of the caller')
  const endless = { language: 'python', code: "display('a')\nwhile True: pass" } as const
  await assert.rejects(
    lazaret.run({ ...endless, onDisplay: () => Promise.reject(mistake) }),
    (error) => error === mistake,
  )
  while (here.engine.lazaret.stats().running > 0) await new Promise((resolve) => setImmediate(resolve))
})

test('a result has the methods of a result', async () => {
  await using here = await serveHere()
  const lazaret = connectLazaret({ url: `${here.url}/`, token: adaToken })
  const result = await lazaret.run({
    language: 'python',
    code: 'open("made", "wb").write(b"\\0\\xff")\nprint("hi")\n{1}',
    collect: ['made'],
  })
  assert.equal(result.ok, true)
  assert.deepEqual(result.value, new Set([1]))
  assert.deepEqual(Object.keys(result.files), ['made'])
  assert.deepEqual([...(result.files['made'] ?? [])], [0, 255])
  assert.match(result.toText(), /stdout: hi\n\nvalue: \{1\}/)
  assert.deepEqual(JSON.parse(JSON.stringify(result)).value, { $type: 'set', value: [1] })
  assert.deepEqual(result.images, [])
})

test('errors are those of a Lazaret in this process: code, kind, words and hint', async () => {
  await using here = await serveHere({ engine: { rate: { perMinute: 1 } } })
  const lazaret = connectLazaret({ url: here.url, token: adaToken })
  const run = { language: 'shell', code: ':' } as const
  const wrong = { ...run, limits: { wallMs: 0 } }
  const local = await here.engine.lazaret.run(wrong).catch((error: unknown) => error as LazaretError)
  const remote = await lazaret.run(wrong).catch((error: unknown) => error as LazaretError)
  assert.ok(local instanceof LazaretError && remote instanceof LazaretError)
  assert.deepEqual(remote.toJSON(), local.toJSON())
  await lazaret.run(run)
  await assert.rejects(lazaret.run(run), (error: LazaretError) => {
    assert.deepEqual([error.code, error.kind, error.retryable], ['RATE_LIMITED', 'refusal', true])
    return Number(error.retryAfterMs) > 30_000
  })
  await assert.rejects(connectLazaret({ url: here.url, token: 'nobody-0123456789' }).run(run), {
    code: 'UNAUTHENTICATED',
  })
})

test('invalid options are refused by name before anything is sent', () => {
  const good = { url: 'http://127.0.0.1:1', token: 'x' }
  const wrong: readonly (readonly [string, unknown])[] = [
    ...['', 'localhost', 'localhost:7341', '/v1', 'http://', 'http://a:99999', 'file:///etc/passwd'].map(
      (url) => ['url', { ...good, url }] as const,
    ),
    ...[undefined, null, 7, {}, Symbol('url')].map((url) => ['url', { ...good, url }] as const),
    ...['', 'a b', 'a\r\nb', undefined, null, 123_456, ['x']].map(
      (token) => ['token', { ...good, token }] as const,
    ),
    ...[-1, 1.5, NaN, Infinity, '2', null].map(
      (retriesMax) => ['retriesMax', { ...good, retriesMax }] as const,
    ),
    ['fetch', { ...good, fetch: 'fetch' }],
    ...[undefined, null, 'http://127.0.0.1:1', 7].map((options) => ['options', options] as const),
  ]
  for (const [name, options] of wrong)
    assert.throws(
      () => connectLazaret(options as typeof good),
      (error) => {
        assert.ok(error instanceof LazaretError, String(error))
        assert.equal(error.code, 'INVALID_REQUEST')
        return error.message.includes(` ${name}: must be`) || error.message.includes(` ${name}: must begin`)
      },
      inspect(options),
    )
  assert.throws(() => connectLazaret({ ...good, token: '' }), { message: /`lazaret token create` has made/ })
  assert.throws(() => connectLazaret({} as typeof good), { code: 'INVALID_REQUEST' })
  connectLazaret(good)
})

test('what a callback throws, run() throws, and the run ends with it', async () => {
  await using here = await serveHere()
  const lazaret = connectLazaret({ url: here.url, token: adaToken })
  const mine = new TypeError('of the caller')
  const endless = { language: 'shell', code: 'echo ready; sleep 84001' } as const
  await assert.rejects(
    lazaret.run({
      ...endless,
      onOutput: () => {
        throw mine
      },
    }),
    (error) => error === mine,
  )
  while (here.engine.lazaret.stats().running > 0) await new Promise((resolve) => setImmediate(resolve))
})

/** A server with scripted replies that counts its requests. */
async function misbehave(
  answer: (
    times: number,
  ) =>
    | { readonly status: number; readonly headers?: Record<string, string>; readonly body: string }
    | undefined,
) {
  const state = { times: 0 }
  const server = createServer((request, response) => {
    request.resume()
    const reply = answer(++state.times)
    if (reply === undefined) response.destroy()
    else response.writeHead(reply.status, reply.headers ?? {}).end(reply.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('a read-only request without an answer is repeated; a run never is', async () => {
  await using flaky = await misbehave((times) =>
    times < 3 ? undefined : { status: 200, body: '{"running":0,"waiting":0,"pools":[]}' },
  )
  const lazaret = connectLazaret({ url: flaky.url, token: adaToken })
  assert.deepEqual(await lazaret.stats(), { running: 0, waiting: 0, pools: [] })
  assert.equal(flaky.state.times, 3)
  await using dead = await misbehave(() => undefined)
  await assert.rejects(
    connectLazaret({ url: dead.url, token: adaToken }).run({ language: 'shell', code: '' }),
    { code: 'CONNECTION_LOST' },
  )
  assert.equal(dead.state.times, 1)
})

test('a read-only request is repeated after a refusal that says when to retry', async () => {
  const problem = { code: 'QUEUE_FULL', detail: 'full', hint: '', retryAfterMs: 30 }
  await using busy = await misbehave((times) =>
    times === 1 ? { status: 503, body: JSON.stringify(problem) } : { status: 200, body: '{"running":1}' },
  )
  assert.deepEqual(await connectLazaret({ url: busy.url, token: adaToken }).stats(), { running: 1 })
})

test('answers that do not come from a Lazaret are reported, and no redirect is followed', async () => {
  for (const reply of [
    { status: 502, body: '<html>Bad gateway</html>' },
    { status: 302, headers: { location: 'http://127.0.0.1:1/' }, body: '' },
    { status: 200, body: 'not JSON' },
    { status: 400, body: '{"code":"__proto__"}' },
  ]) {
    await using server = await misbehave(() => reply)
    const lazaret = connectLazaret({ url: server.url, token: adaToken })
    await assert.rejects(
      lazaret.run({ language: 'shell', code: '' }),
      { code: 'CONNECTION_LOST' },
      JSON.stringify(reply),
    )
  }
  await using cut = await misbehave(() => ({
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: 'event: started\ndata: {}\n\n',
  }))
  const lazaret = connectLazaret({ url: cut.url, token: adaToken })
  const followed = { language: 'shell', code: '', onOutput: () => undefined } as const
  await assert.rejects(lazaret.run(followed), { code: 'CONNECTION_LOST' })
})
