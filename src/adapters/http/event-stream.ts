/** Server-sent events, no faster than the client reads: a slow reader makes its own guest wait. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { jsonSteps } from '../../core/values/json-steps.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { whenDrained } from './body.ts'

/** Keeps proxies from taking a silent program for a dead connection. */
const heartbeatMs = 15_000

export class EventStream implements Disposable {
  readonly #response: ServerResponse
  readonly #clock: Clock
  readonly #headers: Readonly<Record<string, string>>
  #stop: () => void = () => undefined
  #hasBegun = false

  constructor(response: ServerResponse, clock: Clock, headers: Readonly<Record<string, string>>) {
    this.#response = response
    this.#clock = clock
    this.#headers = headers
  }

  /** Whether the reply has begun as a stream of events. A reply of bytes is never continued as events. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** Resolves when there is room for more. */
  async send(name: string, data: unknown): Promise<void> {
    if (!this.#response.destroyed) await this.sendJson(name, JSON.stringify(data))
  }

  /** For data of a guest, which may take long to write. */
  async sendLarge(name: string, data: unknown): Promise<void> {
    if (this.#response.destroyed) return
    const json = await loopTurns.perform(jsonSteps(data))
    // In one turn, so that nothing else comes in between.
    await this.#write([`event: ${name}\ndata: `, ...json, '\n\n'])
  }

  async sendJson(name: string, json: string): Promise<void> {
    // JSON has no line ends, so an event is one line of data.
    await this.#write([`event: ${name}\ndata: ${json}\n\n`])
  }

  async #write(pieces: readonly (string | Buffer)[]): Promise<void> {
    const response = this.#response
    if (response.destroyed) return
    if (!this.#hasBegun) {
      this.#hasBegun = true
      response.writeHead(200, {
        ...this.#headers,
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      })
      this.#stop = this.#clock.every(heartbeatMs, () => this.#beat())
    }
    let hasRoom = true
    for (const piece of pieces) hasRoom = response.write(piece)
    if (!hasRoom) await whenDrained(response, this.#clock)
  }

  end(): void {
    this.#stop()
    this.#response.end()
  }

  [Symbol.dispose](): void {
    this.#stop()
  }

  #beat(): void {
    if (!this.#response.writableNeedDrain && !this.#response.writableEnded) this.#response.write(':\n\n')
  }
}
