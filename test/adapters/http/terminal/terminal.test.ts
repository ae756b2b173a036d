/** The terminal of a sandbox over WebSocket: a shell with a size, and each way in which it can end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { connectLazaret } from '../../../../src/adapters/client/index.ts'
import type { RemoteSandbox } from '../../../../src/adapters/client/index.ts'
import { whyNoSandboxes } from '../../../support/sandboxes-here.ts'
import { adaToken, bobToken, type Here, type HereOptions, serveHere } from '../serve-here.ts'
import { processesWith } from '../../../support/guests/processes-with.ts'
import { closeOf, readUntil, refusalOf, socketTo } from './open-terminal.ts'

const skip = await whyNoSandboxes()

interface Opened extends AsyncDisposable {
  readonly here: Here
  readonly sandbox: RemoteSandbox
}

async function openSandbox(options: HereOptions = {}): Promise<Opened> {
  const here = await serveHere(options)
  const sandbox = await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  return { here, sandbox, [Symbol.asyncDispose]: () => here[Symbol.asyncDispose]() }
}

test('a shell has the requested size, notices a change, and reports how it ended', { skip }, async () => {
  await using opened = await openSandbox()
  const { promise: resized, resolve } = Promise.withResolvers<void>()
  let seen = ''
  const terminal = await opened.sandbox.openTerminal({
    columns: 91,
    rows: 17,
    onOutput: (bytes) => {
      seen += Buffer.from(bytes).toString('utf8')
      if (seen.includes('17 91')) terminal.resize({ columns: 132, rows: 43 })
      if (seen.includes('17 91')) terminal.write('stty size\n')
      if (seen.includes('43 132')) resolve()
    },
  })
  terminal.write('tty; stty size\n')
  await resized
  assert.match(seen, /\/dev\/pts\/\d/)
  terminal.write('exit 5\n')
  assert.deepEqual(await terminal.ended, { exitCode: 5 })
})

test('Ctrl-C interrupts the running program, and the shell continues', { skip }, async () => {
  await using opened = await openSandbox()
  const socket = socketTo(opened.here.url)
  await once(socket, 'open')
  socket.send(Buffer.from('echo begun-$((1+1)); sleep 86005\n'))
  await readUntil(socket, 'begun-2')
  await opened.sandbox.exec(`until [ "$(${processesWith('8600[5]')})" ]; do sleep 0.02; done`)
  socket.send(Buffer.from('\x03'))
  // A shell discards what is typed before its next prompt.
  await readUntil(socket, '$ ')
  socket.send(Buffer.from('echo after-$((2+2))\n'))
  await readUntil(socket, 'after-4')
  socket.terminate()
})

test(
  'a shell ends with its connection; a process that was only attached to continues',
  { skip },
  async () => {
    await using opened = await openSandbox()
    const { here, sandbox } = opened
    const own = socketTo(here.url)
    const [first] = (await once(own, 'message')) as [Buffer]
    const { process: id } = JSON.parse(first.toString()) as { process: string }
    own.send(Buffer.from('sleep 86006 & echo begun-$((1+1))\n'))
    await readUntil(own, 'begun-2')
    own.terminate()
    const ended = (await sandbox.getProcess(id))?.waitForExit()
    assert.deepEqual(await ended, { exitCode: 137 })
    assert.equal((await sandbox.exec(processesWith('8600[6]'))).stdout, '')
    const server = await sandbox.startProcess('cat', { id: 'p', tty: { columns: 80, rows: 24 } })
    const look = socketTo(here.url, { path: '/v1/sandboxes/box/terminal?process=p' })
    await once(look, 'open')
    look.send(Buffer.from('typed\n'))
    await readUntil(look, 'typed\r\ntyped')
    look.terminate()
    assert.equal((await server.look()).status, 'running')
    assert.equal((await refusalOf(here.url, { path: '/v1/sandboxes/box/terminal?process=none' })).status, 404)
  },
)

test('the end of the sandbox, and of the server, ends its terminals with a reason', { skip }, async () => {
  await using opened = await openSandbox()
  const { here, sandbox } = opened
  const socket = socketTo(here.url)
  await once(socket, 'open')
  const closed = closeOf(socket)
  await sandbox.destroy()
  assert.ok([1000, 1011].includes((await closed).code))
  await connectLazaret({ url: here.url, token: adaToken }).sandbox({ id: 'box' })
  const late = socketTo(here.url)
  await once(late, 'open')
  const [left] = await Promise.all([closeOf(late), here.service.drain(20_000)])
  assert.deepEqual(left, { code: 1001, reason: 'The server is shutting down.' })
  const { status } = await refusalOf(here.url, {})
  assert.equal(status, 503)
})

test('pages send their token as a subprotocol, which no answer repeats', { skip }, async () => {
  await using opened = await openSandbox()
  const bearer = `lazaret.bearer.${Buffer.from(adaToken).toString('base64url')}`
  const socket = socketTo(opened.here.url, { token: null, protocols: ['lazaret.terminal', bearer] })
  await once(socket, 'open')
  assert.equal(socket.protocol, 'lazaret.terminal')
  socket.terminate()
})

test(
  'a client whose requests would be refused gets no terminal, and no shell is started',
  { skip },
  async () => {
    const works: string[] = []
    await using opened = await openSandbox({ engine: { admit: ({ kind }) => void works.push(kind) } })
    const { url } = opened.here
    works.length = 0
    const bearer = (token: string): string => `lazaret.bearer.${Buffer.from(token).toString('base64url')}`
    for (const [asked, status] of [
      [{ headers: { host: 'evil.example' } }, 403],
      [{ headers: { origin: 'https://evil.example' } }, 403],
      [{ headers: { origin: 'null' } }, 403],
      [{ headers: { 'sec-fetch-site': 'cross-site' } }, 403],
      [{ token: null }, 401],
      [{ token: 'ada-0123456789abcdeX' }, 401],
      [{ token: null, protocols: ['lazaret.terminal', bearer('ada-0123456789abcdeX')] }, 401],
      [{ token: null, protocols: ['lazaret.terminal', 'lazaret.bearer.'] }, 401],
      [{ token: bobToken }, 404],
      [{ path: `/v1/sandboxes/box/terminal?token=${adaToken}` }, 400],
      [{ path: '/v1/sandboxes/box/terminal?columns=0' }, 400],
      [{ path: '/v1/sandboxes/box/terminal?columns=1e9' }, 400],
      [{ path: '/v1/sandboxes/box/terminal?command=id' }, 400],
      [{ path: '/v1/sandboxes/none/terminal' }, 404],
      [{ path: '/v1/run' }, 404],
    ] as const) {
      const refused = await refusalOf(url, asked)
      assert.equal(refused.status, status, JSON.stringify(asked))
      assert.ok(!refused.text.includes(adaToken))
    }
    assert.deepEqual(works, [])
    await using limited = await openSandbox({ ada: { running: 1 } })
    const one = socketTo(limited.here.url)
    await once(one, 'open')
    assert.equal((await refusalOf(limited.here.url, {})).status, 429)
    one.terminate()
  },
)
