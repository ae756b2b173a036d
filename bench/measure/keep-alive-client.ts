/**
 * An HTTP/1.1 client (RFC 9112) with one connection that stays open, and is opened again if the server has closed it between
 * two requests, as after a minute without one. It only does what the bench's server needs, because its
 * own work would count as the server's: `node:http` takes longer for a request than the server.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { Socket } from 'node:net'

export interface Reply {
  readonly status: number
  readonly body: string
}

const closed = (): Error => new Error('The server closed the connection.')

const connectTo = ({ hostname, port }: URL): Socket => connect(Number(port), hostname)

const endOfHead = '\r\n\r\n'

export class KeepAliveClient implements Disposable {
  readonly #url: URL
  #socket: Socket
  #received: Buffer[] = []
  #waiting: PromiseWithResolvers<Reply> | undefined

  private constructor(url: URL, socket: Socket) {
    this.#url = url
    this.#socket = this.#listen(socket)
  }

  #listen(socket: Socket): Socket {
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#take(bytes))
    socket.on('error', (error) => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(closed()))
    return socket
  }

  static async open(url: string): Promise<KeepAliveClient> {
    const where = new URL(url)
    const socket = connectTo(where)
    await once(socket, 'connect')
    return new KeepAliveClient(where, socket)
  }

  /** One request at a time. */
  ask(line: string, headers: Readonly<Record<string, string>>, body: string): Promise<Reply> {
    const waiting = Promise.withResolvers<Reply>()
    this.#waiting = waiting
    if (this.#socket.destroyed) this.#socket = this.#listen(connectTo(this.#url))
    const all = { host: this.#url.host, 'content-length': String(Buffer.byteLength(body)), ...headers }
    const head = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
    this.#socket.write([`${line} HTTP/1.1`, ...head, '', body].join('\r\n'))
    return waiting.promise
  }

  #take(bytes: Buffer): void {
    this.#received.push(bytes)
    const whole = Buffer.concat(this.#received)
    const headBytes = whole.indexOf(endOfHead)
    if (headBytes < 0) return
    const head = whole.subarray(0, headBytes).toString('latin1')
    const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1])
    const start = headBytes + endOfHead.length
    if (whole.length < start + length) return
    this.#received = []
    const status = Number(head.split(' ', 2)[1])
    if (Number.isNaN(length)) this.#waiting?.reject(new Error(`no content-length: ${head.slice(0, 200)}`))
    else this.#waiting?.resolve({ status, body: whole.subarray(start, start + length).toString('utf8') })
    this.#waiting = undefined
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}
