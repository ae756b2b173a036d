/** Sockets and pipes of host daemons in a folder that guests may read: agents, tmux, Docker. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import type { LazaretError } from '../../../src/index.ts'
import { checkoutRoot } from '../../support/sources/checkout.ts'
import { python, useLazaret } from '../../support/use-lazaret.ts'
import { WithoutLayers } from '../../support/hosts/without-layer.ts'

const folder = mkdtempSync(join(tmpdir(), 'lazaret-shown-'))
chmodSync(folder, 0o755)
after(() => rmSync(folder, { recursive: true, force: true }))
const without = new WithoutLayers()
after(() => without[Symbol.dispose]())
const guests = await useLazaret({
  readable: [{ host: folder, guest: '/data' }],
  access: { workspaces: [folder], readable: [folder] },
})

const connecting = `
import errno, os, socket
folder = '/data' if os.path.isdir('/data') else input_data['folder']
answers = set()
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for name in ('agent', 'link'):
        try:
            with socket.socket(socket.AF_UNIX, kind) as s:
                s.connect(folder + '/' + name)
                answers.add('connected')
        except OSError as error: answers.add(errno.errorcode[error.errno])
sorted(answers)`

test('a guest connects to no socket of the host in a folder that it may read', async () => {
  const connections: string[] = []
  const server = createServer((connection) => {
    connections.push('a connection')
    connection.on('error', () => undefined).destroy()
  })
  const path = join(folder, 'agent')
  server.listen(path)
  await once(server, 'listening')
  try {
    // The modes allow everybody to connect.
    chmodSync(path, 0o777)
    execFileSync('ln', ['-s', 'agent', join(folder, 'link')])
    const { value, stderr } = await guests.run({ ...python, code: connecting, input: { folder } })
    assert.deepEqual(value, [guests.level === 'restricted' ? 'EAFNOSUPPORT' : 'ECONNREFUSED'], stderr)
    assert.deepEqual(connections, [])
  } finally {
    server.close()
    rmSync(join(folder, 'link'), { force: true })
  }
})

const writing = `
import errno, os
folder = '/data' if os.path.isdir('/data') else input_data['folder']
try:
    fd = os.open(folder + '/pipe', os.O_WRONLY | os.O_NONBLOCK)
    os.write(fd, b'from a guest')
    answer = 'written'
except OSError as error: answer = errno.errorcode[error.errno]
answer`

test('a guest writes to no pipe of the host in a folder that it may read', async () => {
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', ['-m', '666', path])
  chmodSync(path, 0o666)
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { value, stderr } = await guests.run({ ...python, code: writing, input: { folder } })
    assert.ok(['ENXIO', 'EACCES'].includes(String(value)), `${String(value)} ${stderr}`)
    assert.equal(readSync(reader, Buffer.alloc(64)), 0)
  } finally {
    closeSync(reader)
    rmSync(path)
  }
})

/** A host process that listens in a new folder. */
async function listenIn(
  name: string,
): Promise<{ path: string; socket: string; connections: string[]; end: () => void }> {
  const path = join(folder, name)
  mkdirSync(join(path, 'mounted'), { recursive: true })
  const socket = join(path, 'agent')
  const connections: string[] = []
  const server = createServer((connection) => {
    connections.push('a connection')
    connection.on('error', () => undefined).destroy()
  })
  server.listen(socket)
  await once(server, 'listening')
  chmodSync(socket, 0o777)
  return {
    path,
    socket,
    connections,
    end: () => {
      server.close()
      rmSync(path, { recursive: true, force: true })
    },
  }
}

interface Answer {
  readonly first: Partial<LazaretError>
  readonly sandbox: Partial<LazaretError>
  readonly after: unknown
}

const program = `
  import { rmSync } from 'node:fs'
  import { createLazaret } from ${JSON.stringify(join(checkoutRoot, 'dist/index.js'))}
  const [path, remove] = process.argv.slice(1)
  await using lazaret = createLazaret({ minimumProtection: 'restricted', readable: [{ host: path, guest: '/data' }] })
  const code = ${JSON.stringify(connecting)}
  const run = () => lazaret.run({ language: 'python', code, input: { folder: path } })
  const said = ({ code, message, hint, value }) => ({ code, message, hint, value })
  const first = said(await run().catch((error) => error))
  const sandbox = await lazaret.sandbox().then((made) => made.destroy(), (error) => error)
  rmSync(remove)
  console.log(JSON.stringify({ first, sandbox: sandbox ?? {}, after: (await run()).value }))`

// At restricted nothing can be mounted, and there are no Unix sockets.
for (const kind of guests.level === 'restricted' ? [] : (['a socket', 'a named pipe'] as const)) {
  const title = `where a folder cannot be shown by a view, ${kind} in it is refused and named, until it is gone`
  test(title, async () => {
    const { path, socket, connections, end } = await listenIn('partly')
    if (kind === 'a named pipe') {
      rmSync(socket)
      execFileSync('mkfifo', ['-m', '666', socket])
    }
    try {
      const command = [process.execPath, '--input-type=module', '--eval', program, path, socket]
      const { stdout, stderr } = await without.run([`mounted=${path}/mounted`], command)
      assert.notEqual(stdout, '', stderr)
      const { first, sandbox, after: answers } = JSON.parse(stdout) as Answer
      for (const { code, message, hint } of [first, sandbox]) {
        assert.equal(code, 'JAIL_UNAVAILABLE', stdout)
        assert.ok(message?.includes(`${JSON.stringify(socket)} is ${kind}`), message)
        assert.match(hint ?? '', /without sockets and named pipes/)
      }
      assert.deepEqual(answers, ['ENOENT'])
      assert.deepEqual(connections, [])
    } finally {
      end()
    }
  })
}

test('a folder in which the host listens is no workspace of a sandbox', async () => {
  const { path, socket, connections, end } = await listenIn('workspace')
  if (process.getuid?.() === 0) chownSync(path, 4242, 4242)
  try {
    await assert.rejects(guests.lazaret.sandbox({ workspace: path }), (error: LazaretError) => {
      if (guests.level === 'restricted') return error.code === 'JAIL_UNAVAILABLE'
      assert.equal(error.code, 'INVALID_REQUEST')
      assert.ok(error.message.includes(`workspace: ${JSON.stringify(socket)} is a socket`), error.message)
      return true
    })
    assert.deepEqual(connections, [])
    rmSync(socket)
    if (guests.level === 'restricted') return
    await using sandbox = await guests.lazaret.sandbox({ workspace: path })
    const listening = `import socket\ns = socket.socket(socket.AF_UNIX)\ns.bind('own')\ns.listen()\nsocket.socket(socket.AF_UNIX).connect('own')\nprint('connected')`
    const { stdout, stderr } = await sandbox.exec(`python3 -c "${listening}"`)
    assert.equal(stdout, 'connected\n', stderr)
  } finally {
    end()
  }
})
