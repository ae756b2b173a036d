/** Server-sent events, no faster than the client reads: a slow reader makes its own guest wait. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { whenDrained } from './body.ts'
import { openJson } from './json-answer.ts'

/** Keeps proxies from taking a silent program for a dead connection. */
const heartbeatMs = 15_000

export interface EventStreamParts {
  readonly response: ServerResponse
  readonly clock: Clock
  readonly headers: Readonly<Record<string, string>>
  /** Counts what an event makes the server hold. Throws if that is too much. */
  readonly hold: (bytes: number) => void
}

export class EventStream implements Disposable {
  readonly #parts: EventStreamParts
  #stop: () => void = () => undefined
  #hasBegun = false
  /** The end of all events so far: an event may take many turns, and nothing may come in between. */
  #sent: Promise<void> = Promise.resolve()
  #sending = 0

  constructor(parts: EventStreamParts) {
    this.#parts = parts
  }

  /** Whether the reply has begun as a stream of events. A reply of bytes is never continued as events. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Resolves when there is room for more. */
  async send(name: string, data: unknown): Promise<void> {
    if (!this.#parts.response.destroyed) await this.sendJson(name, JSON.stringify(data))
  }

  /** For data of a guest, which may be long: they are written as the client reads. Throws what `hold` throws. */
  async sendLarge(name: string, data: unknown): Promise<void> {
    await this.#inTurn(async () => {
      const { response, hold } = this.#parts
      if (response.destroyed) return
      const { pieces } = await openJson(data, hold)
      await this.#write(`event: ${name}\ndata: `)
      for await (const piece of pieces) {
        if (response.destroyed) break
        await this.#write(piece)
      }
      await this.#write('\n\n')
      hold(0)
    })
  }

  async sendJson(name: string, json: string): Promise<void> {
    // JSON has no line ends, so an event is one line of data.
    await this.#inTurn(() => this.#write(`event: ${name}\ndata: ${json}\n\n`))
  }

  async #inTurn(send: () => Promise<void>): Promise<void> {
    this.#begin()
    this.#sending++
    const sent = this.#sent.then(send)
    this.#sent = sent.catch(() => undefined)
    try {
      await sent
    } finally {
      this.#sending--
    }
  }

  #begin(): void {
    const { response, clock, headers } = this.#parts
    if (this.#hasBegun || response.destroyed) return
    this.#hasBegun = true
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    this.#stop = clock.every(heartbeatMs, () => this.#beat())
  }

  async #write(piece: string | Buffer): Promise<void> {
    const { response, clock } = this.#parts
    if (!response.destroyed && !response.write(piece)) await whenDrained(response, clock)
  }

  end(): void {
    this.#stop()
    this.#parts.response.end()
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #beat(): void {
    if (this.#sending === 0 && !this.#parts.response.writableEnded) this.#parts.response.write(':\n\n')
  }
}
