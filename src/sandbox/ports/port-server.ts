/** One port of the host, whose connections are forwarded into a sandbox. Bytes pass unchanged, so WebSockets work. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import type { FileProcess } from '../files/file-process.ts'

/** Each connection is a process of the sandbox. */
const connectionsMax = 64

export class PortServer {
  readonly #dial: () => FileProcess
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true })
  readonly #sockets = new Set<Socket>()

  constructor(dial: () => FileProcess) {
    this.#dial = dial
    this.#server.maxConnections = connectionsMax
    this.#server.on('connection', (socket) => this.#serve(socket))
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo
  }

  /** Like a sandbox, the port does not keep an idle host process alive. */
  async listen(at: { readonly host: string; readonly port: number }): Promise<void> {
    this.#server.listen(at).unref()
    await once(this.#server, 'listening')
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.resetAndDestroy()
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    await closed
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => undefined)
    try {
      const process = this.#dial()
      socket.once('close', () => {
        this.#sockets.delete(socket)
        process.kill()
      })
      void sendAll(socket, process).catch(() => undefined)
      // A broken connection is reset, so the client does not mistake a part of the answer for the whole.
      void receiveAll(socket, process).catch(() => socket.resetAndDestroy())
    } catch {
      this.#sockets.delete(socket)
      socket.resetAndDestroy()
    }
  }
}

async function sendAll(socket: Socket, process: FileProcess): Promise<void> {
  for await (const bytes of socket.iterator({ destroyOnReturn: false })) await process.write(bytes as Buffer)
  process.end()
}

async function receiveAll(socket: Socket, process: FileProcess): Promise<void> {
  for await (const bytes of process.output) if (!socket.write(bytes)) await drained(socket)
  const { exitCode } = await process.exit
  if (exitCode === 0) socket.destroySoon()
  else socket.resetAndDestroy()
}

async function drained(socket: Socket): Promise<void> {
  if (socket.destroyed) return
  const gone = Promise.withResolvers<void>()
  socket.once('drain', gone.resolve)
  socket.once('close', gone.resolve)
  await gone.promise
  socket.off('drain', gone.resolve)
  socket.off('close', gone.resolve)
}
