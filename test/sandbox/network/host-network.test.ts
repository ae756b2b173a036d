/** Sandboxes in the host's network: guests cannot take protected ports, and secrets stay isolated. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'

import type { LazaretError } from '../../../src/index.ts'
import { probeAssignedPorts } from '../../../src/jail/machine/assigned-ports.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const { lazaret, landlockAbi } = await useLazaret({ access: { networks: ['none', 'host'] } })
const skip = landlockAbi < 4 ? 'the kernel has no rules for ports' : false
const network = 'host'

const bind = (port: number, address = '0.0.0.0') =>
  `python3 -c "import socket; s = socket.socket(); s.bind(('${address}', ${port})); s.listen(); print('bound')"`

/** A free port, so that only the rule can refuse it, outside the kernel's ephemeral range. */
async function findFreePort(): Promise<number> {
  for (let port = 20_000 + (process.pid % 10_000); ; port++) {
    if (taken.has(port) || probeAssignedPorts([port]).length > 0) continue
    taken.add(port)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').catch(() => null)
    if (isFree === null) continue
    server.close()
    await once(server, 'close')
    return port
  }
}
const taken = new Set<number>()

test('ports that the kernel may assign cannot be protected, so the option is refused', { skip }, async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  // Otherwise a guest could get the port by IP_LOCAL_PORT_RANGE (51) and port 0, or without a bind.
  await assert.rejects(lazaret.sandbox({ network, protectedPorts: [port] }), {
    code: 'JAIL_UNAVAILABLE',
    message: new RegExp(`${port}`),
  })
})

test('protected ports cannot be bound in either space, even while they are free', { skip }, async () => {
  const [port, other] = [await findFreePort(), await findFreePort()]
  await using sandbox = await lazaret.sandbox({ network, protectedPorts: [port] })
  for (const env of [{}, { TOKEN: 'a' }]) {
    for (const address of ['0.0.0.0', '127.0.0.1']) {
      const { exitCode, stderr } = await sandbox.exec(bind(port, address), { env })
      assert.equal(exitCode, 1)
      assert.match(stderr, /PermissionError/)
    }
    assert.equal((await sandbox.exec(bind(other), { env })).stdout, 'bound\n')
    assert.equal((await sandbox.exec(bind(0), { env })).stdout, 'bound\n')
  }
})

test('8080 and 8888 are protected unless others are named', { skip }, async () => {
  await using usual = await lazaret.sandbox({ network })
  for (const port of [8080, 8888]) assert.match((await usual.exec(bind(port))).stderr, /PermissionError/)
  await using open = await lazaret.sandbox({ network, protectedPorts: [] })
  assert.doesNotMatch((await open.exec(bind(8080))).stderr, /PermissionError/)
})

test('with its own network a sandbox can use all ports', async () => {
  await using one = await lazaret.sandbox()
  await using other = await lazaret.sandbox()
  for (const sandbox of [one, other]) assert.equal((await sandbox.exec(bind(8080))).stdout, 'bound\n')
})

test(
  'an abstract socket of a secure command is out of reach',
  { skip: landlockAbi < 6 ? 'the kernel does not scope abstract sockets' : false },
  async () => {
    await using sandbox = await lazaret.sandbox({ network })
    const name = `lazaret-test-${process.pid}`
    const serve = `python3 -c "
import os, socket
s = socket.socket(socket.AF_UNIX); s.bind('\\0${name}'); s.listen(); s.settimeout(2)
open('/workspace/ready', 'w').close()
try: s.accept()[0].send(os.environ['TOKEN'].encode())
except TimeoutError: print('nobody came')
"`
    const reach = `while [ ! -e ready ]; do sleep 0.02; done; python3 -c "
import socket
s = socket.socket(socket.AF_UNIX)
s.connect('\\0${name}'); print(s.recv(100))
"`
    const [served, reached] = await Promise.all([
      sandbox.exec(serve, { env: { TOKEN: 'out of reach' } }),
      sandbox.exec(reach),
    ])
    assert.equal(served.stdout, 'nobody came\n')
    assert.match(reached.stderr, /PermissionError/)
  },
)

test('invalid ports are refused', async () => {
  for (const protectedPorts of [[0], [65_536], [1.5], ['80']])
    await assert.rejects(
      lazaret.sandbox({ network, protectedPorts: protectedPorts as number[] }),
      (error: LazaretError) => error.code === 'INVALID_REQUEST',
    )
})
