/** Sockets: every family, type and protocol number, and every multicast group of the one allowed netlink protocol. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()
const hasNoSockets = guests.level === 'restricted'

const everySocket = `
import ctypes, errno, json, os
libc = ctypes.CDLL(None, use_errno=True)
made = set()
for family in range(64):
    for kind in (1, 2, 3, 4, 5, 6, 10):
        for protocol in [0, *range(1, 24), 41, 58, 89, 115, 132, 136, 143, 255, 256, 262]:
            fd = libc.socket(family, kind, protocol)
            if fd >= 0:
                made.add((family, kind, protocol))
                os.close(fd)
pairs = set()
for family in range(64):
    if libc.socketpair(family, 1, 0, (ctypes.c_int * 2)()) == 0: pairs.add(family)
print(json.dumps([sorted(made), sorted(pairs)]))`

// Unix; TCP and UDP over both internets; routes of netlink. Protocol 1 of AF_UNIX is the family's own number.
const unix = [1, 2, 3, 5].flatMap((kind) => [0, 1].map((protocol) => `1 ${kind} ${protocol}`))
const internet = [2, 10].flatMap((family) => ['1 0', '1 6', '2 0', '2 17'].map((rest) => `${family} ${rest}`))
const routes = ['16 2 0', '16 3 0']

test('python: of all families, types and protocols, only Unix, TCP, UDP and netlink routes may give a socket', async () => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code: everySocket })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const [made, pairs] = JSON.parse(stdout) as [number[][], number[]]
  const allowed = new Set([...unix, ...internet, ...routes])
  assert.deepEqual(
    made.map((one) => one.join(' ')).filter((one) => !allowed.has(one)),
    [],
  )
  // Without its own network namespace a guest gets none of them, only connected pairs.
  if (hasNoSockets) assert.deepEqual(made, [])
  else assert.ok(made.length >= 12)
  assert.deepEqual(pairs, [1])
})

/** RTM_NEWLINK, DELLINK, SETLINK, NEWADDR, NEWROUTE, NEWNEIGH, NEWRULE, NEWQDISC, NEWNSID, NEWNETCONF: */
const changes = [16, 17, 19, 20, 24, 28, 32, 36, 88, 80]
const netlink = `
import json, socket, struct
answers = {}
def ask(kind, flags, body):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.settimeout(2)
    s.send(struct.pack('=IHHII', 16 + len(body), kind, flags, 1, 0) + body)
    reply = s.recv(65536)
    length, kind = struct.unpack_from('=IH', reply)
    return struct.unpack_from('=i', reply, 16)[0] if kind == 2 else kind
link = struct.pack('=BxHiII', 0, 0, 0, 1, 0xffffffff)
attribute = lambda kind, data: struct.pack('=HH', 4 + len(data), kind) + data + bytes(-len(data) % 4)
for kind in ${JSON.stringify(changes)}: answers['change %d' % kind] = ask(kind, 0x605, link)
for name in (b'veth', b'dummy', b'bridge', b'tun', b'ipvlan', b'macvlan', b'vxlan', b'wireguard', b'gre', b'can'):
    answers['new ' + name.decode()] = ask(16, 0x605, link + attribute(3, b'escape0\\0') + attribute(18, attribute(1, name + b'\\0')))
joined = []
for group in range(1, 64):
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    try:
        s.setsockopt(270, 1, group)
        s.setblocking(False)
        try: joined.append(len(s.recv(65536)))
        except BlockingIOError: joined.append(0)
    except OSError: pass
links = []
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
s.send(struct.pack('=IHHIIBxHiII', 32, 18, 0x301, 1, 0, 0, 0, 0, 0, 0))
print(json.dumps({'changed': [name for name, answer in answers.items() if answer >= 0], 'heard': sum(joined), 'links': open('/proc/net/dev').read().count('\\n') - 2, 'answers': answers}))`

const changeLinks = async (): Promise<void> => {
  const { outcome, stdout, stderr } = await guests.run({ ...python, code: netlink })
  assert.deepEqual(outcome, { kind: 'completed', exitCode: 0 }, stderr)
  const { changed, heard, links } = JSON.parse(stdout) as Record<string, unknown>
  assert.deepEqual({ changed, heard, links }, { changed: [], heard: 0, links: 1 }, stdout)
}

if (!hasNoSockets)
  test(
    'python: the allowed netlink changes no link, address or route, and receives nothing of the host',
    changeLinks,
  )
