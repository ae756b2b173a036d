/** The requests of each client that are being answered: a client may have a bounded number at one time. */
import { LazaretError } from '../../core/errors/errors.ts'

export const requestsPerClientMax = 128

export class OpenRequests {
  readonly #open = new Map<string, number>()
  readonly #most: number

  constructor(most = requestsPerClientMax) {
    this.#most = most
  }

  /** Counts as one request of the client until it is disposed. Throws CLIENT_QUEUE_FULL. */
  begin(client: string): Disposable {
    const count = this.#open.get(client) ?? 0
    if (count >= this.#most)
      throw new LazaretError('CLIENT_QUEUE_FULL', {
        message: `At most ${this.#most} requests of a client are answered at one time.`,
        retryAfterMs: 1000,
      })
    this.#open.set(client, count + 1)
    return { [Symbol.dispose]: () => this.#end(client) }
  }

  #end(client: string): void {
    const left = (this.#open.get(client) ?? 1) - 1
    if (left === 0) this.#open.delete(client)
    else this.#open.set(client, left)
  }
}
