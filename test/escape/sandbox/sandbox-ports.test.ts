/**
 * Taking the host's ports, or reaching servers on them, from a sandbox with its own network. 8080 and 8888 are
 * typical ports of such services.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { Server } from 'node:net'
import { after, test } from 'node:test'

import type { Sandbox } from '../../../src/index.ts'
import { openTarget } from '../../support/target-sandbox.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

const ports = [8080, 8888]
const visits: number[] = []
const servers = (await Promise.all(ports.map(listen))).filter((server) => server !== undefined)
after(() => servers.map((server) => server.close()))

const guests = await useLazaret()

/** Undefined if another program of this machine has the port, which serves the test as well. */
async function listen(port: number): Promise<Server | undefined> {
  const server = createServer((socket) => {
    visits.push(port)
    socket.on('error', () => undefined).end('the host')
  })
  server.listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    assert.equal(Reflect.get(Object(error), 'code'), 'EADDRINUSE')
    return undefined
  }
}

const serve = (word: string) => `exec python3 -c '
import socket
servers = [socket.create_server(("", port)) for port in (8080, 8888)]
print("listening", flush=True)
while True:
    client, _ = servers[0].accept()
    client.sendall(b"${word}")
    client.close()'`

const visit = (address: string) => `python3 -c '
import socket
for port in (8080, 8888):
    try: print(socket.create_connection(("${address}", port), 2).recv(99).decode())
    except OSError as error: print(error.strerror)'`

async function startServer(sandbox: Sandbox, word: string): Promise<void> {
  const server = await sandbox.startProcess(serve(word))
  await server.waitForLog('listening')
}

test('the host’s listeners are out of reach, and its ports are free inside', async () => {
  await using target = await openTarget(guests)
  const { sandbox } = target
  const env = { SECRET: 'kept' }
  for (const options of [{}, { env }]) {
    const { stdout } = await sandbox.exec(visit('127.0.0.1'), options)
    assert.equal(stdout, 'Connection refused\nConnection refused\n')
    assert.doesNotMatch((await sandbox.exec(visit('host.docker.internal'), options)).stdout, /the host/)
  }
  await startServer(sandbox, 'inside')
  assert.match((await sandbox.exec(visit('127.0.0.1').replace('8080, 8888', '8080,'))).stdout, /^inside\n$/)
  // Not even by commands with secrets of the same sandbox, whatever listens where they expect a service.
  const secure = await sandbox.exec(visit('127.0.0.1'), { env })
  assert.equal(secure.stdout, 'Connection refused\nConnection refused\n')
  assert.deepEqual(visits, [])
  await target.requireUnharmed()
})

test('two sandboxes and the host have the same ports at one time, each its own', async () => {
  await using one = await openTarget(guests)
  await using other = await openTarget(guests)
  await startServer(one.sandbox, 'one')
  await startServer(other.sandbox, 'other')
  const first = visit('127.0.0.1').replace('8080, 8888', '8080,')
  assert.equal((await one.sandbox.exec(first)).stdout, 'one\n')
  assert.equal((await other.sandbox.exec(first)).stdout, 'other\n')
  for (const server of servers) {
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    assert.equal(await answerOf(address.port), 'the host')
  }
})

test('nothing that a sandbox listens on can be reached from the host', async () => {
  await using target = await openTarget(guests)
  const port = await freePort()
  const code = `exec python3 -c 'import socket, time; s = [socket.create_server(("", ${port})), socket.create_server(("::", ${port}), family=socket.AF_INET6, dualstack_ipv6=False)]; print("listening", flush=True); time.sleep(60)'`
  const server = await target.sandbox.startProcess(code)
  await server.waitForLog('listening')
  await assert.rejects(answerOf(port), /ECONNREFUSED/)
})

async function answerOf(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString()
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  server.close()
  await once(server, 'close')
  return address.port
}
