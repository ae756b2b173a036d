/**
 * A guest whose port is open to the host: flooding a slow reader, accepting and never answering, killing and stopping
 * the processes that carry connections, and using them to reach other targets.
 */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { useLazaret } from '../../support/use-lazaret.ts'

const MiB = 1024 * 1024
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void
const { lazaret } = await useLazaret()

/** Accepts connections, and sends each one given bytes. */
const server = (handler: string) => `
import socket, threading, os, signal, time
one = socket.create_server(('127.0.0.1', 3000))
def handle(peer):
    ${handler}
while True: threading.Thread(target=handle, args=(one.accept()[0],), daemon=True).start()
`

async function expose(handler: string) {
  const sandbox = await lazaret.sandbox({ files: { 'server.py': server(handler) } })
  const process = await sandbox.startProcess('python3 server.py')
  await process.waitForPort(3000)
  const { url } = await sandbox.exposePort(3000)
  const sockets: Socket[] = []
  const dial = (): Socket => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
    sockets.push(socket)
    return socket
  }
  const end = async (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    await sandbox.destroy()
  }
  return { sandbox, dial, [Symbol.asyncDispose]: end }
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

test('an endless answer to a reader that reads nothing costs the host no memory', async () => {
  await using here = await expose("while True: peer.sendall(b'x' * 1000000)")
  const before = await usedBytes(0)
  for (let connections = 0; connections < 8; connections++) here.dial().pause()
  // Without backpressure, hundreds of megabytes arrive in this time. What the sockets have taken is garbage by then.
  await here.sandbox.exec('sleep 3')
  const grown = (await usedBytes(before + 64 * MiB)) - before
  assert.ok(grown < 64 * MiB, `${grown} bytes more`)
})

/**
 * The memory in use after several garbage collections, or after one that leaves less than `enough`. Unreferenced buffers
 * are freed late, some only after the sweep of an earlier collection.
 */
async function usedBytes(enough: number): Promise<number> {
  let used = Infinity
  for (let collections = 0; collections < 10 && used >= enough; collections++) {
    collectGarbage()
    await setImmediate()
    const { external, heapUsed } = process.memoryUsage()
    used = external + heapUsed
  }
  return used
}

test('excess connections are dropped, and the sandbox stays usable', async () => {
  await using here = await expose('time.sleep(600)')
  const sockets = Array.from({ length: 80 }, () => here.dial())
  await Promise.race(sockets.map(closed))
  const { stdout } = await here.sandbox.exec('echo still here')
  assert.equal(stdout, 'still here\n')
})

test('killing or stopping all processes, with those that carry connections, leaves neither a hanging close nor a hanging end', async () => {
  for (const signal of ['KILL', 'STOP']) {
    await using here = await expose("peer.sendall(b'hello'); time.sleep(600)")
    const socket = here.dial()
    await new Promise((resolve) => socket.once('data', resolve))
    const end = closed(socket)
    await here.sandbox.exec(`kill -${signal} -1`)
    socket.destroy()
    await end
  }
})

test('a connection leads to the named port, whatever the guest does with its loopback', async () => {
  await using here = await expose("peer.sendall(b'mine'); peer.close()")
  const socket = here.dial()
  let text = ''
  for await (const piece of socket) text += String(piece)
  assert.equal(text, 'mine')
})
