/** `lazaret serve` and `lazaret token` as processes: how they start, who may call, and how the server ends. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { request as requestTls } from 'node:https'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../../support/eventually.ts'
import { eventsOf, open, send } from '../../http/serve-here.ts'
import { findGuest, sleepFor } from '../../mcp/find-guest.ts'
import { runCli, spawnCli } from '../spawn-cli.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-serve-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const anyLevel = ['--minimum', 'restricted']

interface Serving extends AsyncDisposable {
  readonly url: string
  readonly token: string
  readonly child: ReturnType<typeof spawnCli>
  readonly ended: Promise<number | null>
}

async function serve(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<Serving> {
  const child = spawnCli(['serve', '--port', '0', '--json', ...anyLevel, ...args], { env })
  const ended = once(child, 'close').then(([code]) => code as number | null)
  const [line] = (await Promise.race([
    once(createInterface(child.stdout), 'line'),
    ended.then(async (code) => {
      throw new Error(`it ended with ${code}`)
    }),
  ])) as [string]
  const { url, token = '' } = JSON.parse(line) as { url: string; token?: string }
  return {
    url,
    token,
    child,
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const run = { language: 'shell', code: 'echo served' }

test('without tokens it creates one for this start, and only this machine can connect', async () => {
  await using first = await serve()
  await using second = await serve()
  assert.match(first.token, /^lzt_[\w-]{43}$/)
  assert.notEqual(first.token, second.token)
  assert.equal(
    (await send(first.url, '/v1/run', { body: run, token: first.token })).json['stdout'],
    'served\n',
  )
  assert.equal((await send(first.url, '/v1/run', { body: run, token: second.token })).status, 401)
  const metrics = await send(first.url, '/metrics', { token: first.token })
  assert.match(metrics.text, /lazaret_runs_total\{[^}]*shell/)
  const refused = await runCli(['serve', '--host', '0.0.0.0'])
  assert.equal(refused.exitCode, 64)
  assert.match(refused.stderr, /lazaret token create --name <name> --tokens <file>/)
})

test('a token in the environment has every scope; a short or empty one is refused', async () => {
  const token = 'of-the-environment-1'
  await using server = await serve([], { LAZARET_TOKEN: token })
  assert.equal(server.token, '')
  assert.equal((await send(server.url, '/v1/run', { body: run, token })).status, 200)
  for (const wrong of ['', 'short']) {
    const { exitCode, stderr } = await runCli(['serve', '--port', '0'], { env: { LAZARET_TOKEN: wrong } })
    assert.equal(exitCode, 64)
    assert.ok(wrong === '' || !stderr.includes(wrong))
  }
})

test('tokens are made, listed and revoked; the file has hashes, and a running server follows it', async () => {
  const file = join(folder, 'deep/tokens.json')
  const create = async (...args: string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await runCli(['token', 'create', '--tokens', file, ...args])
    assert.equal(exitCode, 0, stderr)
    return stdout.trim()
  }
  const ci = await create(
    '--name',
    'ci',
    '--scopes',
    'run',
    '--rate',
    '60/m',
    '--running',
    '4',
    '--allow',
    'network',
  )
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.ok(!readFileSync(file, 'utf8').includes(ci))
  await using server = await serve(['--tokens', file])
  assert.equal((await send(server.url, '/v1/run', { body: run, token: ci })).status, 200)
  const late = await create('--name', 'late')
  const statusOf = async (token: string): Promise<number> =>
    (await send(server.url, '/v1/run', { body: run, token })).status
  await until(async () => (await statusOf(late)) === 200)
  const listed = await runCli(['token', 'list', '--tokens', file])
  assert.equal(listed.stdout, 'ci  run  60/m  4 at a time  may ask for network\nlate  run,sandbox\n')
  const response = await open(server.url, '/v1/run', {
    body: { language: 'shell', code: 'echo ready; exec sleep 82001' },
    token: late,
    headers: { accept: 'text/event-stream' },
  })
  const events = eventsOf(response)
  while ((await events.next()).value?.event !== 'output');
  assert.equal((await runCli(['token', 'revoke', 'late', '--tokens', file])).exitCode, 0)
  for await (const { event, data } of events)
    if (event === 'result') assert.deepEqual(data['outcome'], { kind: 'cancelled' })
  assert.equal(await statusOf(late), 401)
  assert.equal(await statusOf(ci), 200)
})

test('a wrong name of a token exits with 64, and a token file that others can read is refused', async () => {
  const file = join(folder, 'open.json')
  const made = await runCli(['token', 'create', '--name', 'one', '--tokens', file, '--json'])
  assert.equal((JSON.parse(made.stdout) as { name: string }).name, 'one')
  for (const args of [
    ['token', 'create', '--name', 'one', '--tokens', file],
    ['token', 'create', '--name', 'a b', '--tokens', file],
    ['token', 'create', '--name', 'two', '--scopes', 'everything', '--tokens', file],
    ['token', 'create', '--name', 'two', '--rate', '60', '--tokens', file],
    ['token', 'revoke', 'nobody', '--tokens', file],
    ['serve', '--tokens', join(folder, 'missing.json')],
    ['token', 'list', '--tokens', join(folder, 'missing.json')],
    ['token', 'list', '--tokens', join(folder, 'missing.json'), '--json'],
    ['serve', '--bound', 'nothing=1'],
    ['serve', '--port', '70000'],
  ])
    assert.equal((await runCli(args)).exitCode, 64, args.join(' '))
  // The default file is created with its first token.
  const unmade = await runCli(['token', 'list'], { env: { XDG_CONFIG_HOME: join(folder, 'empty') } })
  assert.deepEqual([unmade.exitCode, unmade.stdout], [0, ''])
  const usual = join(folder, 'empty/lazaret/tokens.json')
  assert.equal(unmade.stderr, `lazaret: there are no tokens in ${usual}.\n`)
  chmodSync(file, 0o644)
  const { exitCode, stderr } = await runCli(['serve', '--tokens', file])
  assert.equal(exitCode, 64)
  assert.match(stderr, /can be read or written by others/)
})

test('a mistake in an option of a new token names the option, and creates no file or folder', async () => {
  const file = join(folder, 'nowhere/tokens.json')
  const create = ['token', 'create', '--tokens', file]
  const mistakes: readonly (readonly [RegExp, readonly string[]])[] = [
    [/--name must be 1 to 64 letters, digits and _ \. @ -\./, [...create, '--name', 'a b']],
    [/--name must be 1 to 64/, [...create, '--name', '']],
    [/--rate must be at most 1000000\./, [...create, '--name', 'a', '--rate', '9999999/m']],
    [/--running must be at most 10000\./, [...create, '--name', 'a', '--running', '20000']],
    [/no token is named nobody/, ['token', 'revoke', 'nobody', '--tokens', file]],
  ]
  for (const [message, args] of mistakes) {
    const { exitCode, stderr } = await runCli(args)
    assert.equal(exitCode, 64, args.join(' '))
    assert.match(stderr, message)
    assert.ok(!stderr.includes(file), stderr)
  }
  assert.equal(existsSync(dirname(file)), false)
  const { stderr } = await runCli([...create, '--name', 'a b'])
  const hint = /lazaret (.*) has an example\./.exec(stderr)?.[1] ?? ''
  assert.match((await runCli(hint.split(' '))).stdout, /^Examples:\n  lazaret token create/m)
})

test('the error for an unusable token file has a hint that helps', async () => {
  const file = join(folder, 'wrong.json')
  writeFileSync(file, '{}', { mode: 0o600 })
  const made = await runCli(['token', 'create', '--name', 'a', '--tokens', file])
  assert.match(
    made.stderr,
    /cannot use .*wrong\.json: tokens: must be .*\n {2}Correct that, or name another file/,
  )
  const served = await runCli(['serve', '--port', '0', '--tokens', join(folder, 'missing.json')])
  assert.match(served.stderr, /Create it with: lazaret token create --name <name> --tokens .*missing\.json\n/)
})

test('after SIGTERM the server refuses new work, lets runs end, and exits with 0', async () => {
  await using server = await serve()
  const { url, token, child, ended } = server
  const answered = send(url, '/v1/run', {
    body: { language: 'shell', code: 'sleep 82002 & echo $!; read line; kill $!' },
    token,
  })
  const functionRun = await open(url, '/v1/run', {
    body: { language: 'python', code: 'print(wait())', functions: ['wait'] },
    token,
    headers: { accept: 'text/event-stream', 'x-request-id': 'drained-run' },
  })
  await answered
  const events = eventsOf(functionRun)
  let event = await events.next()
  while (event.value?.event !== 'call') event = await events.next()
  child.kill('SIGTERM')
  await until(async () => (await send(url, '/readyz', { token })).status === 503)
  const refused = await send(url, '/v1/run', { body: run, token })
  assert.deepEqual(
    [refused.status, refused.json['code'], refused.headers['retry-after']],
    [503, 'DISPOSED', '1'],
  )
  const path = `/v1/run/drained-run/calls/${String(event.value.data['call'])}`
  assert.equal((await send(url, path, { body: { value: 'in time' }, token })).status, 204)
  let stdout: unknown
  for await (const { event: name, data } of events) if (name === 'result') stdout = data['stdout']
  assert.equal(stdout, 'in time\n')
  assert.equal(await ended, 0)
})

test('runs that exceed the drain time are cancelled; a second signal ends the server at once', async () => {
  const endless = (seconds: number) => ({ language: 'shell', code: `echo ready; exec ${sleepFor(seconds)}` })
  await using patient = await serve(['--drain', '100ms'])
  const answered = send(patient.url, '/v1/run', { body: endless(82_003), token: patient.token })
  answered.catch(() => undefined)
  await eventually(() => (findGuest(82_003) ? undefined : 'it does not run'), 20_000)
  patient.child.kill('SIGTERM')
  assert.equal(await patient.ended, 0)
  assert.equal(findGuest(82_003), undefined)
  await using hasty = await serve(['--drain', '10m'])
  const other = send(hasty.url, '/v1/run', { body: endless(82_004), token: hasty.token })
  other.catch(() => undefined)
  await eventually(() => (findGuest(82_004) ? undefined : 'it does not run'), 20_000)
  hasty.child.kill('SIGTERM')
  await until(async () => (await send(hasty.url, '/readyz', { token: null })).status === 503)
  hasty.child.kill('SIGTERM')
  assert.equal(await hasty.ended, null)
  await eventually(() => (findGuest(82_004) === undefined ? undefined : 'the guest lives'), 10_000)
})

test('only this user can connect to a Unix socket', async () => {
  const path = join(folder, 'api.sock')
  await using server = await serve(['--unix', path])
  assert.equal(server.url, `unix:${path}`)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  const sent = request({
    socketPath: path,
    path: '/v1/run',
    method: 'POST',
    headers: {
      host: 'localhost',
      authorization: `Bearer ${server.token}`,
      'content-type': 'application/json',
    },
  })
  sent.end(JSON.stringify(run))
  const [response] = await once(sent, 'response')
  assert.match(await text(response), /"stdout":"served\\n"/)
})

test('a killed server leaves no guests, and the next server can use its socket', async () => {
  const path = join(folder, 'left.sock')
  const killed = await serve(['--unix', path])
  const sent = request({
    socketPath: path,
    path: '/v1/run',
    method: 'POST',
    headers: {
      host: 'localhost',
      authorization: `Bearer ${killed.token}`,
      'content-type': 'application/json',
    },
  })
  sent.on('error', () => undefined)
  sent.end(JSON.stringify({ language: 'shell', code: `exec ${sleepFor(82_005)}` }))
  await eventually(() => (findGuest(82_005) ? undefined : 'it does not run'), 20_000)
  await killed[Symbol.asyncDispose]()
  await eventually(() => (findGuest(82_005) ? 'the guest lives' : undefined), 10_000)
  assert.ok(statSync(path).isSocket())
  await using next = await serve(['--unix', path])
  assert.equal(next.url, `unix:${path}`)
  const refused = await runCli(['serve', '--unix', path, ...anyLevel])
  assert.equal(refused.exitCode, 64)
})

test('a file or a link at the path of the socket stays as it is', async () => {
  const [file, link] = [join(folder, 'precious.txt'), join(folder, 'link.sock')]
  writeFileSync(file, 'precious')
  symlinkSync(file, link)
  for (const path of [file, link]) {
    // The first line of a server that refuses is its error.
    await using refused = await serve(['--unix', path])
    assert.equal(refused.url, undefined, path)
    assert.equal(await refused.ended, 64)
  }
  assert.equal(readFileSync(link, 'utf8'), 'precious')
})

test('without the folder of its socket, the message says so', async () => {
  const { exitCode, stderr } = await runCli(['serve', '--unix', join(folder, 'nowhere', 'sock'), ...anyLevel])
  assert.equal(exitCode, 64)
  assert.match(stderr, /nowhere\/sock: its folder does not exist/)
})

const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl is not installed'

test('on a port that is in use, the message names the options to change', async () => {
  await using first = await serve()
  const { port } = new URL(first.url)
  const second = await runCli(['serve', ...anyLevel, '--port', port])
  assert.equal(second.exitCode, 64)
  assert.match(second.stderr, /address already in use\.\n {2}Name another --port or --host/)
})

test('with a certificate it accepts only TLS', { skip: noOpenssl }, async () => {
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
  ]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1']
  assert.equal(spawnSync('openssl', [...made, ...names, '-keyout', key, '-out', cert]).status, 0)
  chmodSync(key, 0o600)
  await using server = await serve(['--tls-cert', cert, '--tls-key', key])
  assert.match(server.url, /^https:/)
  const sent = requestTls(`${server.url}/v1/run`, {
    method: 'POST',
    ca: readFileSync(cert),
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
  })
  sent.end(JSON.stringify(run))
  const [response] = await once(sent, 'response')
  assert.match(await text(response), /"stdout":"served\\n"/)
  await assert.rejects(send(server.url.replace('https', 'http'), '/healthz'))
  chmodSync(key, 0o644)
  for (const args of [
    ['--tls-cert', cert],
    ['--tls-cert', cert, '--tls-key', key],
    ['--tls-cert', cert, '--tls-key', join(folder, 'none.pem')],
  ])
    assert.equal((await runCli(['serve', ...args])).exitCode, 64, args.join(' '))
})

async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, 'it did not happen within 20 s')
    await pause(10)
  }
}

test('a configuration sets limits and origins, and flags override it', async () => {
  const config = join(folder, 'serve.config.json')
  const serveKey = { bounds: { bodyBytesMax: 100 }, cors: ['https://app.example'] }
  writeFileSync(config, JSON.stringify({ serve: serveKey }), { mode: 0o600 })
  const headers = { origin: 'https://app.example' }
  const large = { language: 'shell', code: `# ${'x'.repeat(200)}` }
  await using configured = await serve(['--config', config])
  const { url, token } = configured
  assert.equal((await send(url, '/v1/run', { token, headers, body: large })).status, 413)
  assert.equal((await send(url, '/healthz', { headers })).status, 200)
  await using flagged = await serve([
    ...['--config', config, '--bound', 'bodyBytesMax=100000', '--bound', 'heldBytesMax=65536'],
    ...['--cors', 'https://other.example'],
  ])
  const other = { token: flagged.token, body: large }
  assert.equal((await send(flagged.url, '/v1/run', other)).status, 200)
  assert.equal((await send(flagged.url, '/openapi.json', { ...other, headers })).status, 403)
  // The client's share is half of what the engine may hold.
  const held = { token: flagged.token, body: { ...large, code: `# ${'x'.repeat(60_000)}` } }
  assert.equal((await send(flagged.url, '/v1/run', held)).json['code'], 'QUEUE_FULL')
  for (const [args, said] of [
    [['--cors', '*'], /is not an origin/],
    [['--cors', 'https://app.example/'], /is not an origin/],
    [['--bound', 'idleMs=99999999999'], /too large/],
  ] as const) {
    const refused = await runCli(['serve', ...args])
    assert.equal(refused.exitCode, 64)
    assert.match(refused.stderr, said)
  }
})

test('with --open a browser gets the link in a file, and not in its arguments, which other users can see', async () => {
  const [browser, seen] = [join(folder, 'browser.sh'), join(folder, 'seen')]
  writeFileSync(
    browser,
    `#!/bin/sh\n{ echo "$@"; stat -c %a "$1"; cat "$1"; } > '${seen}.part'; mv '${seen}.part' '${seen}'\n`,
  )
  chmodSync(browser, 0o755)
  await using opened = await serve(['--open'], { BROWSER: browser })
  await eventually(() => (existsSync(seen) ? undefined : 'the browser was not started'), 30_000)
  const [file = '', mode, page = ''] = readFileSync(seen, 'utf8').split('\n')
  assert.ok(!file.includes(opened.token))
  assert.equal(mode, '600')
  assert.ok(page.includes(`url=${opened.url}/#token=${opened.token}"`), page)
  opened.child.kill('SIGTERM')
  assert.equal(await opened.ended, 0)
  assert.ok(!existsSync(file))
  const none = await runCli(['serve', '--port', '0', '--open', '--unix', join(folder, 'socket')])
  assert.equal(none.exitCode, 64)
})
