/**
 * A guest whose port is open to the host: flooding a slow reader, accepting and never answering, killing and stopping
 * the processes that carry connections, and using them to reach other targets.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { test } from 'node:test'

import { untilPythonBlocks } from '../../support/machine/blocked-guests.ts'
import { keepHeldFlat } from '../../support/machine/held-memory.ts'
import { useLazaret } from '../../support/use-lazaret.ts'

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
  return { sandbox, process, dial, [Symbol.asyncDispose]: end }
}

const closed = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

test('a long answer to a reader that reads nothing costs the host no memory', async () => {
  // Without backpressure, the host takes all 800 MB.
  await using here = await expose(
    "for _ in range(100): peer.sendall(b'x' * 1000000)\n    print('sent', flush=True)",
  )
  await keepHeldFlat(async () => {
    const sockets = Array.from({ length: 8 }, here.dial)
    // The first bytes have arrived; nobody reads them.
    await Promise.all(sockets.map((socket) => once(socket, 'readable')))
    assert.equal(await untilPythonBlocks(() => here.process.getLogs().stdout !== ''), 'blocked')
  })
})

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
