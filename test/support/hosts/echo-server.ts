/** An echo server on this machine that counts its connections. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Server } from 'node:net'

export class EchoServer implements AsyncDisposable {
  readonly #server: Server
  arrivals = 0

  private constructor() {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.arrivals++
      socket.on('error', () => undefined)
      socket.write('heard: ')
      socket.pipe(socket)
    })
  }

  static async open(address: string, port = 0): Promise<EchoServer> {
    const echo = new EchoServer()
    echo.#server.listen(port, address)
    await once(echo.#server, 'listening')
    return echo
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    await once(this.#server, 'close')
  }
}
