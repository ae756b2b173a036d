/** Exhausting a network policy: connections, bytes, questions, names, slow peers, and connections that outlive their run. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { afterEach, before, describe, it } from 'node:test'

import { guestPython } from '../../support/channel-cell.ts'
import { EchoServer } from '../../support/hosts/echo-server.ts'
import { eventually } from '../../support/eventually.ts'
import { LeakCheck } from '../../support/machine/leaks.ts'
import { levelHere } from '../../support/machine/level-here.ts'
import { PolicySandbox } from '../../support/policy-sandbox.ts'

const needsNamespaces = (await levelHere()) === 'restricted' && 'without namespaces a policy is refused'
const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
)
const needsIpv6 = !hasIpv6 && 'this machine has no IPv6'
const patienceMs = 20_000

/** A server that only accepts connections, and exposes them. */
async function openSilent(): Promise<{ port: number; sockets: Socket[]; close: () => Promise<void> }> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    socket.on('error', () => undefined)
    sockets.push(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  }
  return { port: (server.address() as AddressInfo).port, sockets, close }
}

describe('a network policy that a guest exhausts', { skip: needsNamespaces }, () => {
  const leaks = new LeakCheck()
  before(() => leaks.takeBaseline())
  afterEach(() => leaks.checkDisposed())

  it('allows a maximum number of concurrent connections, and new ones when these have ended', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    const policy = { allow: [`localhost:${server.port}`], connectionsMax: 3 }
    await using sandbox = await PolicySandbox.open(policy)
    const code = `
def open_one():
    one = connect('127.0.0.1', ${server.port})
    return one, one.recv(7)
held = [open_one()[0] for _ in range(3)]
print(ask('127.0.0.1', ${server.port}))
for one in held: one.close()
while (answer := ask('127.0.0.1', ${server.port})) != 'heard: hello': pass
print(answer)`
    assert.equal(await sandbox.run(code), 'reset\nheard: hello\n')
    assert.ok(server.arrivals >= 4)
  })

  it('passes exactly as many bytes as allowed', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    // Five bytes out and twelve back are 17: two of those fit, and a byte too few is left for the third.
    const policy = { allow: [`localhost:${server.port}`], bytesMax: 50 }
    await using sandbox = await PolicySandbox.open(policy)
    const code = `print(*[ask('localhost', ${server.port}) for _ in range(4)], sep='\\n')`
    const answers = (await sandbox.run(code)).trimEnd().split('\n')
    assert.deepEqual(answers.slice(0, 2), ['heard: hello', 'heard: hello'])
    assert.ok(answers.slice(2).every((answer) => answer === 'reset' || answer === 'nothing'))
    await eventually(() => (sandbox.refused.length > 0 ? undefined : 'nothing is refused'), patienceMs)
    const { hosts, refused } = sandbox.report
    const [host] = hosts
    assert.ok(host !== undefined && host.sentBytes + host.receivedBytes <= 50)
    assert.deepEqual(new Set(refused.map(({ reason }) => reason)), new Set(['bytes']))
  })

  it('carries a complete stream, and the last bytes of each side reach the other', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    await using sandbox = await PolicySandbox.open({ allow: [`localhost:${server.port}`] })
    const code = `
import hashlib, threading
data = os.urandom(1 << 20) * 24
one = connect('localhost', ${server.port})
def send():
    one.sendall(data)
    one.shutdown(socket.SHUT_WR)
threading.Thread(target=send).start()
digest, length = hashlib.sha256(), 0
assert one.recv(7, socket.MSG_WAITALL) == b'heard: '
while piece := one.recv(1 << 18):
    digest.update(piece)
    length += len(piece)
print(length, digest.digest() == hashlib.sha256(data).digest())`
    assert.equal(await sandbox.run(code), `${24 << 20} True\n`)
  })

  it('gives up an address that does not answer in time, without waiting for the guest', async () => {
    // A rule allows TEST-NET-1, in which nobody has an address.
    const policy = { allow: ['slow.test:443', '192.0.2.77/32:443'], connectMs: 300 }
    await using sandbox = await PolicySandbox.open(policy, async () => ['192.0.2.77'])
    assert.match(await sandbox.run(`print(ask('slow.test', 443))`), /^reset\n$/)
    const reasons = sandbox.refused.map(({ reason }) => reason)
    assert.ok(reasons.length === 1 && ['too-slow', 'unreachable'].includes(reasons[0] ?? ''))
  })

  it(
    'tries the next address if one cannot be reached, and reports it if none can',
    { skip: needsIpv6 },
    async () => {
      await using server = await EchoServer.open('::1')
      const silent = await openSilent()
      const { port } = silent
      await silent.close()
      await using sandbox = await PolicySandbox.open({
        allow: [`localhost:${port}`, `localhost:${server.port}`],
      })
      // The host's `localhost` is 127.0.0.1 first, where nobody listens.
      const code = `print(ask('127.0.0.1', ${port}), ask('127.0.0.1', ${server.port}), sep=', ')`
      assert.equal(await sandbox.run(code), 'reset, heard: hello\n')
      assert.deepEqual(sandbox.refused, [{ host: 'localhost', port, reason: 'unreachable', count: 1 }])
    },
  )

  it('answers thousands of questions and names within its bounds, and its host continues', async () => {
    await using sandbox = await PolicySandbox.open({ allow: ['*.many.test'] }, async () => ['8.8.8.8'])
    const code = `
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(5000):
    try: one.sendto(question([b'n%d' % number, b'many', b'test']), ('127.0.0.1', 53))
    except OSError: pass
while (answer := resolve(question([b'last', b'many', b'test']), 1)) == 'TimeoutError': pass
print(answer[:6])`
    assert.equal(await sandbox.run(code), 'ok 198\n')
    assert.ok(sandbox.report.refused.length <= 32)
  })

  it('gets refusals for any number of new names, and the report stays short', async () => {
    await using sandbox = await PolicySandbox.open({ allow: ['good.test'] })
    const code = `
for number in range(300): resolve(question([b'n%d' % number, b'evil', b'test']))
print(resolve(question([b'\\x1b[31m', b'evil'])))`
    assert.equal(await sandbox.run(code), 'no name\n')
    const { refused, unlisted, wouldAllow } = sandbox.report
    assert.equal(refused.length, 32)
    assert.equal(unlisted, 301 - 32)
    assert.ok([...wouldAllow, ...refused.map(({ host }) => host)].every((text) => /^[a-z0-9.?]+$/.test(text)))
  })

  it('does not affect others if it has thousands of half-open connections', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    await using sandbox = await PolicySandbox.open({
      allow: [`localhost:${server.port}`],
      connectionsMax: 16,
    })
    const code = `
held = []
for number in range(3000):
    one = socket.socket()
    one.setblocking(False)
    one.connect_ex(('127.0.0.1', ${server.port}))
    if number % 2: held.append(one)
    else: one.close()
    if len(held) > 200: held.pop(0).close()
print('done')`
    await using other = await PolicySandbox.open({ allow: [`localhost:${server.port}`] })
    const flood = sandbox.run(code)
    assert.equal(await other.run(`print(ask('localhost', ${server.port}))`), 'heard: hello\n')
    assert.equal(await flood, 'done\n')
  })

  it('carries another stream completely while many readers stop', async () => {
    const streamBytes = 24 * 1024 * 1024
    const streaming = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.write(Buffer.alloc(streamBytes), () => socket.end())
    })
    streaming.listen(0, '127.0.0.1')
    await once(streaming, 'listening')
    const { port } = streaming.address() as AddressInfo
    const policy = { allow: [`localhost:${port}`] }
    await using hogging = await PolicySandbox.open(policy)
    // More connections than there are large pipes.
    const hog = hogging.start(`
held = [connect('localhost', ${port}) for _ in range(40)]
for one in held:
    left = ${streamBytes} // 3
    while left > 0: left -= len(one.recv(min(left, 1 << 20)))
print('stalled', flush=True)
sys.stdin.read()
import time
while True: time.sleep(1000)`)
    await eventually(
      () => (hogging.report.hosts[0]?.connections === 40 ? undefined : 'not all came'),
      patienceMs,
    )
    await using other = await PolicySandbox.open(policy)
    const code = `
length = 0
for _ in range(3):
    one = connect('localhost', ${port})
    while piece := one.recv(1 << 20): length += len(piece)
print(length)`
    assert.equal(await other.run(code), `${3 * streamBytes}\n`)
    hog.kill()
    await hog.ended
    assert.equal(await hogging.run(code), `${3 * streamBytes}\n`)
    streaming.close()
    await once(streaming, 'close')
  })

  it('buffers what a peer sends and a guest does not read, up to a bound', async () => {
    const silent = await openSilent()
    await using sandbox = await PolicySandbox.open({ allow: [`localhost:${silent.port}`] })
    const command = sandbox.start(`
one = connect('localhost', ${silent.port})
one.sendall(b'!')
print('connected', flush=True)
sys.stdin.read()
import time
while True: time.sleep(1000)`)
    await eventually(() => (silent.sockets.length > 0 ? undefined : 'nobody came'), patienceMs)
    const [socket] = silent.sockets
    assert.ok(socket)
    let taken = 0
    const piece = Buffer.alloc(1024 * 1024)
    // Waits until no more bytes move: those sent are in buffers of the kernel and the relay.
    await eventually(() => {
      if (socket.writableLength === 0) socket.write(piece)
      const last = taken
      taken = socket.bytesWritten - socket.writableLength
      return taken > last || taken === 0 ? 'bytes still move' : undefined
    }, patienceMs)
    assert.ok(taken < 64 * 1024 * 1024, `${taken} bytes`)
    command.kill()
    await command.ended
    await silent.close()
  })

  it('has no connection, no listener and no relay left when it ends', async () => {
    const silent = await openSilent()
    const sandbox = await PolicySandbox.open({ allow: [`localhost:${silent.port}`] })
    const command = sandbox.start(`
one = connect('localhost', ${silent.port})
one.sendall(b'!')
one.recv(1)`)
    await eventually(() => (silent.sockets.length > 0 ? undefined : 'nobody came'), patienceMs)
    const [socket] = silent.sockets
    assert.ok(socket)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    const { pid } = sandbox.machine.relays.process ?? {}
    await sandbox[Symbol.asyncDispose]()
    await closed
    await command.ended.catch(() => undefined)
    assert.throws(() => process.kill(pid ?? -1, 0), { code: 'ESRCH' })
    await silent.close()
  })

  it('fails closed when the relay is killed', async () => {
    await using server = await EchoServer.open('127.0.0.1')
    await using sandbox = await PolicySandbox.open({ allow: [`localhost:${server.port}`] })
    const { relays } = sandbox.machine
    const { pid, gone } = relays.process ?? {}
    assert.ok(pid)
    process.kill(pid, 'SIGKILL')
    await gone
    const code = `print(ask('localhost', ${server.port}), resolve(question([b'good', b'test'])), sep=', ')`
    assert.equal(await sandbox.run(code), 'Connection refused, Connection refused\n')
    assert.equal(server.arrivals, 0)
    // Later sandboxes get a new relay; the one that lost its network does not get it back.
    const another = await PolicySandbox.openOn(sandbox.machine, { allow: [`localhost:${server.port}`] })
    assert.notEqual(relays.process?.pid, pid)
    assert.equal(await another.run(`print(ask('localhost', ${server.port}))`), 'heard: hello\n')
    await another.spaces[Symbol.asyncDispose]()
    assert.equal(await sandbox.run(code), 'Connection refused, Connection refused\n')
  })

  it('does not delay the end of a run when the relay is stopped', async () => {
    const sandbox = await PolicySandbox.open({ allow: ['good.test'] })
    const { pid, gone } = sandbox.machine.relays.process ?? {}
    assert.ok(pid)
    process.kill(pid, 'SIGSTOP')
    await sandbox[Symbol.asyncDispose]()
    await gone
  })

  it('admits no other process that finds its name, and silent connections do not block others', async () => {
    await using sandbox = await PolicySandbox.open({ allow: ['good.test'] }, async () => ['8.8.8.8'])
    const { name } = sandbox.machine.relays.process ?? {}
    const stranger = `
import array, os, socket
def come():
    one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    one.connect('\\0${name}')
    return one
silent = [come() for _ in range(100)]
for words in (b'', b'x' * 31, b'x' * 32, b'x' * 33, b'x' * 1000):
    one = come()
    one.send(words)
    assert one.recv(1) == b'', words
one = come()
file = os.open('/dev/null', os.O_RDONLY)
one.sendmsg([b'x' * 20], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [file] * 200))])
assert one.recv(1) == b''
print('out')`
    assert.equal(execFileSync(guestPython, ['-c', stranger], { encoding: 'utf8' }), 'out\n')
    assert.equal(await sandbox.run(`print(resolve(question([b'good', b'test']))[:6])`), 'ok 198\n')
    const secure = await sandbox.spaces.takeSecure()
    await secure.clean()
  })
})
