/** A guest that listens on every interface, on abstract names, and by multicast. Nobody outside its cell can reach it. */
import assert from 'node:assert/strict'
import { createConnection } from 'node:net'
import { networkInterfaces } from 'node:os'
import { test } from 'node:test'

import { python, useLazaret } from '../../support/use-lazaret.ts'

const guests = await useLazaret()

const code = `
import json, os, select, socket
def listen(family, address):
    s = socket.socket(family)
    s.bind(address)
    s.listen()
    return s
listeners = [listen(socket.AF_INET, ('0.0.0.0', 0)), listen(socket.AF_INET6, ('::', 0)), listen(socket.AF_UNIX, '\\0lazaret-inside-%s' % input_data), listen(socket.AF_UNIX, '/tmp/inside-%s' % input_data)]
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.bind(('0.0.0.0', 0))
ports = [s.getsockname()[1] for s in listeners[:2]]
print(json.dumps(ports), flush=True)
select.select([*listeners, datagrams], [], [])
print('heard')`

async function canConnect(options: { port: number; host: string } | { path: string }): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection(options, () => resolve(true))
  socket.once('error', () => resolve(false))
  const connected = await promise
  socket.destroy()
  return connected
}

const listenAnywhere = `
import errno, json, os, socket
made = []
for family in range(48):
    for kind in (1, 2, 3, 5):
        try: made.append([family, kind, socket.socket(family, kind).fileno() < 0])
        except OSError as error:
            if error.errno != errno.EAFNOSUPPORT: made.append([family, kind, errno.errorcode[error.errno]])
print(json.dumps(made))`

/** Without a network namespace a guest gets no listening socket; with one it may listen, but is unreachable from outside. */
const canListen = guests.level !== 'restricted'

if (!canListen) {
  test('a guest gets no socket to listen on, of any family', async () => {
    const { stdout, stderr } = await guests.run({ ...python, code: listenAnywhere })
    assert.equal(stdout, '[]\n', stderr)
  })
}

const findNobody = async (): Promise<void> => {
  const addresses = Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).map(({ address, scopeid }) => (scopeid === undefined || scopeid === 0 ? address : '::1')),
  )
  const ports = Promise.withResolvers<number[]>()
  const stop = new AbortController()
  const listening = guests.run({
    ...python,
    code,
    input: String(process.pid),
    signal: stop.signal,
    onOutput: ({ bytes }) => ports.resolve(JSON.parse(Buffer.from(bytes).toString()) as number[]),
  })
  const [four = 0, six = 0] = await ports.promise
  const targets = ['127.0.0.1', '::1', ...addresses].flatMap((host) => [
    { host, port: four },
    { host, port: six },
  ])
  const paths = [{ path: `\0lazaret-inside-${process.pid}` }, { path: `/tmp/inside-${process.pid}` }]
  for (const target of [...targets, ...paths])
    assert.equal(await canConnect(target), false, JSON.stringify(target))
  const neighbour = await guests.run({
    ...python,
    code: `
import socket
reached = []
for family, address in ((socket.AF_INET, ('127.0.0.1', input_data['four'])), (socket.AF_INET6, ('::1', input_data['six'])), (socket.AF_UNIX, chr(0) + 'lazaret-inside-' + input_data['name']), (socket.AF_UNIX, '/tmp/inside-' + input_data['name'])):
    try:
        socket.socket(family).connect(address)
        reached.append(address)
    except OSError: pass
print(reached)`,
    input: { four, six, name: String(process.pid) },
  })
  assert.equal(neighbour.stdout, '[]\n', neighbour.stderr)
  stop.abort()
  const { outcome, stdout } = await listening
  assert.deepEqual(outcome, { kind: 'cancelled' })
  assert.equal(stdout.split('\n').length, 2)
}

if (canListen) test('the host and another cell find nobody where a guest listens', findNobody)
