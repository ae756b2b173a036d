/** A call of a host function between its message and its answer: its signal, its time limit, and that it has one answer. */
import type { FunctionCall } from '../../core/request.ts'

/** The function has it as its `this`. */
export class OpenCall implements FunctionCall {
  readonly #id: number
  readonly #bytes: number
  readonly #run: AbortSignal
  #signal: AbortSignal | undefined
  #expiry: AbortController | undefined
  #cancel: () => void = () => undefined
  #isClosed = false

  constructor(id: number, bytes: number, run: AbortSignal) {
    this.#id = id
    this.#bytes = bytes
    this.#run = run
  }

  get id(): number {
    return this.#id
  }

  /** The bytes of the message that contained the call. */
  get bytes(): number {
    return this.#bytes
  }

  /** Created on demand: most functions never do. */
  get signal(): AbortSignal {
    this.#signal ??=
      this.#expiry === undefined ? this.#run : AbortSignal.any([this.#run, this.#expiry.signal])
    return this.#signal
  }

  /** Gives it a time limit. `start` gets what to call when the time is over, and returns what cancels that. */
  limit(start: (expire: (reason: unknown) => void) => () => void): void {
    const expiry = new AbortController()
    this.#expiry = expiry
    this.#cancel = start((reason) => expiry.abort(reason))
  }

  /** Whether it had been open. */
  close(): boolean {
    if (this.#isClosed) return false
    this.#isClosed = true
    this.#cancel()
    return true
  }
}
