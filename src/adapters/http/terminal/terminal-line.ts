/** One open WebSocket: frames to a client that may read slowly, frames from one that may send too much, and its end. */
import type { RawData, WebSocket } from 'ws'
import type { Clock } from '../../../core/clock.ts'
import type { TerminalSize } from '../../../jail/cell/guest-process.ts'
import { stallMs } from '../body.ts'
import { parseResize } from './terminal-protocol.ts'

export interface LineListener {
  readonly onInput: (bytes: Buffer) => void
  readonly onResize: (size: TerminalSize) => void
}

/** As RFC 6455 numbers them. */
export const closeCodes = {
  done: 1000,
  goingAway: 1001,
  unsupported: 1003,
  policy: 1008,
  failed: 1011,
} as const

/** How many bytes may wait for a slow reader; then the terminal waits. */
const waitingBytesMax = 256 * 1024
/** How often a client is pinged. */
const pingMs = 30_000

export class TerminalLine implements Disposable {
  /** Aborts when the client is gone, or was cut off. */
  readonly gone: AbortSignal
  readonly #socket: WebSocket
  readonly #clock: Clock
  readonly #gone = new AbortController()
  readonly #stop: () => void
  #isThere = true

  constructor(socket: WebSocket, clock: Clock) {
    this.#socket = socket
    this.#clock = clock
    this.gone = this.#gone.signal
    socket.on('error', () => socket.terminate())
    socket.on('close', () => this.#gone.abort())
    socket.on('pong', () => (this.#isThere = true))
    this.#stop = clock.every(pingMs, () => this.#ping())
  }

  listen({ onInput, onResize }: LineListener): void {
    this.#socket.on('message', (data: RawData, isBinary: boolean) => {
      // By default `ws` gives one buffer for each message.
      const bytes = data as Buffer
      if (isBinary) return onInput(bytes)
      const size = parseResize(bytes.toString('utf8'))
      if (size === undefined) this.close(closeCodes.unsupported, 'A text frame must be a resize.')
      else onResize(size)
    })
  }

  /** Resolves when there is room for more; a client that reads nothing for long is disconnected. */
  async send(data: Uint8Array | string): Promise<void> {
    const socket = this.#socket
    if (socket.readyState !== socket.OPEN) return
    const { promise: taken, resolve } = Promise.withResolvers<void>()
    socket.send(data, { binary: typeof data !== 'string' }, () => resolve())
    if (socket.bufferedAmount <= waitingBytesMax) return
    const cancel = this.#clock.after(stallMs, () => socket.terminate())
    try {
      await taken
    } finally {
      cancel()
    }
  }

  tell(document: object): Promise<void> {
    return this.send(JSON.stringify(document))
  }

  /** What was sent before still arrives. The terminal does not wait for the client's side of the close. */
  close(code: number, reason: string): void {
    this.#socket.close(code, reason)
    this.#gone.abort()
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #ping(): void {
    if (!this.#isThere) return this.#socket.terminate()
    this.#isThere = false
    this.#socket.ping()
  }
}
