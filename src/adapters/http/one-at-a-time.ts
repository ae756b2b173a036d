/**
 * Serves the requests of each connection one after another. Node parses all requests that arrive together in one turn of
 * the event loop, and a client may write hundreds of them without reading one answer.
 *
 * Stops: pipelines that make the server do or hold more than one answer of a connection. Does not stop: many connections,
 * which have bounds of their own.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

export type Serve = (request: IncomingMessage, response: ServerResponse) => void

/** Requests that may wait for the answer before theirs. Ordinary clients write none before they have their answer. */
export const pipelinedMax = 8

export class OneAtATime {
  readonly #serve: Serve
  /** The connections that are being served, with what waits. */
  readonly #waiting = new WeakMap<Duplex, [IncomingMessage, ServerResponse][]>()

  constructor(serve: Serve) {
    this.#serve = serve
  }

  /** The next request begins when the client, or the kernel on its behalf, has taken the answer to the last one. */
  readonly serve: Serve = (request, response) => {
    const { socket } = request
    const waiting = this.#waiting.get(socket)
    if (waiting === undefined) this.#begin(request, response)
    else if (waiting.length < pipelinedMax) waiting.push([request, response])
    else socket.destroy()
  }

  isServing(socket: Duplex): boolean {
    return this.#waiting.has(socket)
  }

  #begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (!this.#waiting.has(socket)) this.#waiting.set(socket, [])
    response.once('close', () => {
      const [next, answer] = this.#waiting.get(socket)?.shift() ?? []
      // After an answer that ends the connection, the next one has no connection to go to.
      if (next === undefined || answer?.socket !== socket || socket.destroyed) this.#waiting.delete(socket)
      else this.#begin(next, answer)
    })
    this.#serve(request, response)
  }
}
