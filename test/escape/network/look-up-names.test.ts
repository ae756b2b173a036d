/** Looking up names: through libc, with packets to the host's resolvers, by multicast, and at sockets of resolver services. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { getServers } from 'node:dns'
import { once } from 'node:events'
import { after, test } from 'node:test'

import { bun, node, python, shell, useLazaret } from '../../support/use-lazaret.ts'

/** A resolver on the host that records every question. */
let questions = 0
const resolver = createSocket('udp4', () => questions++)
await once(resolver.bind(0, '0.0.0.0'), 'listening')
const { port } = resolver.address()
const guests = await useLazaret()
after(() => resolver.close())

const servers = [
  ...new Set([
    ...getServers().map((server) => server.replace(/^\[|\].*$/g, '')),
    '127.0.0.1',
    '127.0.0.53',
    '8.8.8.8',
    '1.1.1.1',
    '2001:4860:4860::8888',
    '224.0.0.251',
    '224.0.0.252',
    'ff02::fb',
  ]),
]

const code = `
import ctypes, json, os, socket, struct
query = struct.pack('>HHHHHH', 7, 0x100, 1, 0, 0, 0) + b'\\7example\\3com\\0' + struct.pack('>HH', 1, 1)
answered = []
for server in input_data['servers']:
    family = socket.AF_INET6 if ':' in server else socket.AF_INET
    for port in (53, 5353, 5355, input_data['port']):
        try:
            s = socket.socket(family, socket.SOCK_DGRAM)
            s.settimeout(0.1)
            s.sendto(query, (server, port))
            answered.append([server, port, len(s.recv(512))])
        except OSError: pass
    for port in (53, 853):
        try:
            s = socket.create_connection((server, port), 0.1)
            answered.append([server, 'tcp', port])
        except OSError: pass
for name in ('example.com', 'localhost.example.com', 'host.docker.internal', '_gateway', 'metadata.google.internal', input_data['host']):
    for look in (lambda: socket.getaddrinfo(name, 80), lambda: socket.gethostbyname(name), lambda: socket.gethostbyname_ex(name)):
        try: answered.append([name, str(look())])
        except OSError: pass
try: answered.append(['reverse', socket.gethostbyaddr('8.8.8.8')])
except OSError: pass
for path in ('/run/systemd/resolve/io.systemd.Resolve', '/var/run/nscd/socket', '/run/nscd/socket', '/run/dbus/system_bus_socket', '/run/avahi-daemon/socket', '/run/nslcd/socket'):
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        answered.append([path])
    except OSError: pass
print(json.dumps(answered))`

const input = { servers, port, host: 'lazaret-attack.example' }

test('python: a lookup of a name gets no answer and reaches nobody', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code, input, limits: { wallMs: 60_000 } })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  assert.equal(stdout, '[]\n')
  assert.equal(questions, 0)
})

const javascript = `
  const dns = await import('node:dns/promises')
  const answered = []
  const note = (name) => (answer) => answered.push([name, answer])
  for (const name of ['example.com', 'metadata.google.internal']) {
    await dns.lookup(name).then(note(name), () => {})
    for (const server of input.servers) {
      const resolver = new dns.Resolver({ timeout: 50, tries: 1 })
      try { resolver.setServers([server.includes(':') ? '[' + server + ']:' + input.port : server + ':' + input.port]) } catch { continue }
      await resolver.resolve4(name).then(note(server), () => {})
    }
  }
  console.log(JSON.stringify(answered))
  process.exit(0)`

for (const runtime of [bun, node]) {
  test(`${runtime.runtime}: a lookup of a name gets no answer and reaches nobody`, async () => {
    const { stdout, stderr } = await guests.run({
      ...runtime,
      code: javascript,
      input,
      limits: { wallMs: 60_000 },
    })
    assert.equal(stdout, '[]\n', stderr)
    assert.equal(questions, 0)
  })
}

test('shell: getent finds no host, and the cell’s resolv.conf names no resolver', async () => {
  const script =
    'for n in example.com dns.google; do getent hosts $n; getent ahosts $n; done; grep -c nameserver /etc/resolv.conf; exit 0'
  const { stdout } = await guests.run({ ...shell, code: script, limits: { wallMs: 60_000 } })
  // Without a mount namespace it cannot read the host's resolv.conf.
  assert.equal(stdout, guests.level === 'restricted' ? '' : '0\n')
})
