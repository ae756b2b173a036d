/** Reaching the network: TCP, UDP, DNS, IPv6, metadata services, and Unix sockets of the host, which listens for all of them. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

import { ampleMs } from '../../support/patient-run.ts'
import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

let arrivals = 0
const listeners: { close(): unknown }[] = []
// Before anything can fail, because an open server keeps the process.
after(() => {
  for (const listener of listeners) listener.close()
})

async function listen(...where: [number, string] | [string]): Promise<Server> {
  const server = createServer((socket) => {
    arrivals++
    socket.destroy()
  })
  if (where.length === 1) server.listen(where[0])
  else server.listen(...where)
  await once(server, 'listening')
  listeners.push(server)
  return server
}

const portOf = (server: Server): number => (server.address() as { port: number }).port
const tcp = portOf(await listen(0, '0.0.0.0'))
const hasIpv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ family }) => family === 'IPv6'),
)
const tcp6 = hasIpv6 ? portOf(await listen(0, '::1')) : tcp
const udp = createSocket('udp4', () => arrivals++)
listeners.push(udp)
await once(udp.bind(0, '0.0.0.0'), 'listening')
const abstractName = `lazaret-escape-${process.pid}`
await listen(`\0${abstractName}`)

const guests = await useLazaret({ access: { networks: ['none', 'host'] } })
/** Without their own network namespace, guests get only connected socket pairs. */
const hasNoSockets = guests.level === 'restricted'

const pathSocket = join('/tmp', `lazaret-escape-${process.pid}.socket`)
await listen(pathSocket)
await guests.leaks.takeBaseline()

const ownAddresses = Object.values(networkInterfaces()).flatMap((addresses) =>
  (addresses ?? []).filter(({ family }) => family === 'IPv4').map(({ address }) => address),
)
const targets: [string, number][] = [
  ...['127.0.0.1', '127.0.0.53', '0.0.0.0', ...ownAddresses].map((address): [string, number] => [
    address,
    tcp,
  ]),
  ['::1', tcp6],
  ['::ffff:127.0.0.1', tcp],
  ['169.254.169.254', 80],
  ['fd00:ec2::254', 80],
  ['1.1.1.1', 53],
  ['2606:4700:4700::1111', 53],
]

const python3 = `
import errno, json, socket
answers = {}
for host, port in input_data['targets']:
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            s = socket.socket(family, kind)
            s.settimeout(0.5)
            if kind == socket.SOCK_STREAM: s.connect((host, port))
            else: s.sendto(b'escape', (host, input_data['udp']))
            answers['%s %d' % (host, kind)] = 'ok'
        except OSError as error: answers['%s %d' % (host, kind)] = str(error)
for path in ('\\0' + input_data['abstract'], input_data['path']):
    try:
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        answers[path] = 'ok'
    except OSError as error: answers[path] = str(error)
    for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
        try:
            s, _ = socket.socketpair(socket.AF_UNIX, kind)
            s.connect(path)
            answers['pair %d %s' % (kind, path)] = 'ok'
        except OSError as error: answers['pair %d %s' % (kind, path)] = str(error)
for name in ('example.com', 'metadata.google.internal'):
    try: answers[name] = socket.getaddrinfo(name, 80) and 'ok'
    except OSError as error: answers[name] = str(error)
print(json.dumps(answers))`

const input = { targets, udp: udp.address().port, abstract: abstractName, path: pathSocket }

test('python: no TCP, name or unix socket is reachable, and nothing arrives at the host', async () => {
  const { outcome, stdout, stderr } = await guests.run({
    ...python,
    code: python3,
    input,
    limits: { wallMs: ampleMs },
  })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const answers = JSON.parse(stdout) as Record<string, string>
  // A datagram to the cell's own loopback is sent and lost; the check below proves that it did not arrive at the host.
  const reached = Object.keys(answers).filter(
    (name) => answers[name] === 'ok' && !/^(127|0|::1|::ffff).* 2$/.test(name),
  )
  assert.deepEqual(reached, [])
  assert.equal(arrivals, 0)
})

const javascript = `
  const net = await import('node:net')
  const connect = (options) => new Promise((resolve) => {
    const socket = net.connect(options)
    socket.setTimeout(500, () => resolve('timeout'))
    socket.on('connect', () => resolve('ok')).on('error', (error) => resolve(error.code))
  })
  const { lookup } = await import('node:dns/promises')
  const answers = []
  for (const [host, port] of input.targets) answers.push(await connect({ host, port }))
  answers.push(await connect({ path: '\\0' + input.abstract }), await connect({ path: input.path }))
  answers.push(await lookup('example.com').then(() => 'ok', (error) => error.code), await fetch('http://169.254.169.254/').then(() => 'ok', () => 'failed'))
  console.log(JSON.stringify(answers))
  process.exit(0)`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: no TCP, name or unix socket is reachable, and nothing arrives at the host`, async () => {
    const { outcome, stdout, stderr } = await guests.run({
      ...runtime,
      code: javascript,
      input,
      limits: { wallMs: ampleMs },
    })
    assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
    assert.deepEqual(
      (JSON.parse(stdout) as string[]).filter((answer) => answer === 'ok'),
      [],
    )
    assert.equal(arrivals, 0)
  })
}

test('shell: no TCP or UDP leaves, and the only interface that it can list is a loopback of its own', async () => {
  const code = `for host in 127.0.0.1 169.254.169.254 1.1.1.1; do (exec 3<>/dev/tcp/$host/${tcp}) 2>/dev/null && echo reached; (echo x >/dev/udp/$host/${udp.address().port}) 2>/dev/null; done; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; getent hosts example.com; exit 0`
  const { stdout } = await guests.run({ ...shell, code })
  assert.equal(stdout, hasNoSockets ? '' : 'lo\n')
  assert.equal(arrivals, 0)
})

test('a listener of a guest is not reachable from outside', async () => {
  const code = `
import socket
s = socket.socket(); s.bind(('0.0.0.0', ${tcp})); s.listen()
u = socket.socket(socket.AF_UNIX); u.bind('\\0${abstractName}'); u.listen()
c = socket.create_connection(('127.0.0.1', ${tcp}))
print('its own loopback works')`
  const { stdout, stderr } = await guests.run({ ...python, code })
  if (hasNoSockets) assert.match(stderr, /Address family not supported by protocol/)
  // The same port and the same abstract name are taken on the host: both namespaces are the cell's own.
  else assert.equal(stdout, 'its own loopback works\n', stderr)
  assert.equal(arrivals, 0)
})

const noScopes =
  hasNoSockets || guests.landlockAbi >= 6
    ? false
    : `Landlock ABI ${guests.landlockAbi} has no scopes: abstract sockets of a shared network cannot be refused`

test(
  'with the host’s network, its abstract and path sockets stay out of reach',
  { skip: noScopes },
  async () => {
    const { stdout } = await guests.run({
      ...python,
      code: python3,
      input: { ...input, targets: [] },
      network: 'host',
      limits: { wallMs: ampleMs },
    })
    const answers = JSON.parse(stdout) as Record<string, string>
    const noFamily = /Address family not supported/
    assert.match(answers[`\0${abstractName}`] ?? '', hasNoSockets ? noFamily : /Operation not permitted/)
    assert.match(answers[pathSocket] ?? '', hasNoSockets ? noFamily : /No such file/)
    const reached = Object.keys(answers).filter((name) => answers[name] === 'ok' && name.startsWith('pair'))
    assert.deepEqual(reached, [])
    assert.equal(arrivals, 0)
  },
)
