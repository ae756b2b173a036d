/** Writes the answers to the messages of one request as one response, no faster than the client reads. */
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../core/clock.ts'
import { whenDrained } from '../http/body.ts'

const eventType = 'text/event-stream'

export class AnswerWriter {
  readonly #response: ServerResponse
  readonly #clock: Clock
  /** The first answer with a body decides the type. */
  #type: string | undefined
  #status = 202

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response
    this.#clock = clock
  }

  /** Whether further answers have no place: the client is gone, or has got one that is not an event. */
  get isOver(): boolean {
    return this.#response.destroyed || (this.#type !== undefined && this.#type !== eventType)
  }

  /** Resolves when the client has read it, or is gone. */
  async write(answer: Response): Promise<void> {
    const { body, status, headers } = answer
    if (body === null) {
      this.#status = status
      return
    }
    const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? ''
    if (this.#type === undefined) {
      this.#type = type
      // The client and Node decide whether the connection stays.
      headers.delete('connection')
      this.#response.writeHead(status, Object.fromEntries(headers))
      await this.#pass(body)
    } else if (type === eventType) await this.#pass(body)
    else if (!this.#response.destroyed) {
      // The handler's JSON has no line ends, so it is one line of data.
      this.#response.write('event: message\ndata: ')
      await this.#pass(body)
      this.#response.write('\n\n')
    }
  }

  end(): void {
    if (this.#type === undefined && !this.#response.headersSent) this.#response.writeHead(this.#status)
    this.#response.end()
  }

  async #pass(body: ReadableStream<Uint8Array>): Promise<void> {
    const response = this.#response
    const reader = body.getReader()
    const stop = (): void => void reader.cancel().catch(() => undefined)
    response.once('close', stop)
    try {
      for (let piece = await reader.read(); !piece.done && !response.destroyed; piece = await reader.read())
        for (const slice of slicesOf(piece.value))
          if (!response.destroyed && !response.write(slice)) await whenDrained(response, this.#clock)
    } catch {
      // The client must notice that the body is truncated.
      response.destroy()
    } finally {
      response.off('close', stop)
    }
  }
}

const sliceBytes = 64 * 1024

/** A client that reads slowly still reads something in time. */
function* slicesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += sliceBytes) yield bytes.subarray(at, at + sliceBytes)
}
