/** A port of the host whose connections are forwarded into a sandbox. Bytes pass unchanged, so WebSockets work. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

import type { FileProcess } from '../files/file-process.ts'
import { FirstRequest, refusal } from './first-request.ts'

/** Each connection is a process of the sandbox. */
const connectionsMax = 64

export type PortPlace = { readonly host: string; readonly port: number } | { readonly path: string }

export class PortServer {
  readonly #dial: () => FileProcess
  readonly #hosts: readonly string[] | 'any'
  readonly #server = createServer({ allowHalfOpen: true, noDelay: true })
  readonly #sockets = new Set<Socket>()
  #canReset = true

  constructor(dial: () => FileProcess, hosts: readonly string[] | 'any') {
    this.#dial = dial
    this.#hosts = hosts
    this.#server.maxConnections = connectionsMax
    this.#server.on('connection', (socket) => this.#serve(socket))
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo
  }

  /** Like a sandbox, the port does not keep an idle host process alive. */
  async listen(at: PortPlace): Promise<void> {
    this.#canReset = 'port' in at
    this.#server.listen(at).unref()
    await once(this.#server, 'listening')
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) this.#reset(socket)
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
      void sendAll(socket, process, new FirstRequest(this.#hosts)).catch(() => undefined)
      // A broken connection is reset, so the client does not mistake a part of the answer for the whole.
      void receiveAll(socket, process, () => this.#reset(socket)).catch(() => this.#reset(socket))
    } catch {
      this.#sockets.delete(socket)
      this.#reset(socket)
    }
  }

  /** A Unix socket has no reset. */
  #reset(socket: Socket): void {
    if (this.#canReset && !isShuttingDown(socket)) socket.resetAndDestroy()
    else socket.destroy()
  }
}

/**
 * All bytes were taken, and the end is on its way. A reset fails then (EINVAL of libuv), and Node never closes the
 * socket: its descriptor stays open, and the process spins instead of exiting.
 */
function isShuttingDown({ writableEnded, writableFinished, writableLength }: Socket): boolean {
  return writableEnded && !writableFinished && writableLength === 0
}

async function sendAll(socket: Socket, process: FileProcess, first: FirstRequest): Promise<void> {
  for await (const bytes of socket.iterator({ destroyOnReturn: false })) {
    const passed = first.take(bytes as Buffer)
    if (passed === undefined) return refuse(socket, process)
    if (passed.length > 0) await process.write(passed)
  }
  const rest = first.end()
  if (rest === undefined) return refuse(socket, process)
  if (rest.length > 0) await process.write(rest)
  process.end()
  return undefined
}

function refuse(socket: Socket, process: FileProcess): void {
  socket.end(refusal)
  socket.destroySoon()
  process.kill()
}

async function receiveAll(socket: Socket, process: FileProcess, reset: () => void): Promise<void> {
  for await (const bytes of process.output)
    if (!socket.writableEnded && !socket.write(bytes)) await drained(socket)
  const { exitCode } = await process.exit
  if (socket.writableEnded) return
  if (exitCode === 0) socket.destroySoon()
  else reset()
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
