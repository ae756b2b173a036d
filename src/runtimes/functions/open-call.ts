/** A call of a host function between its message and its answer: has a signal and a time limit, and gets one answer. */
import type { FunctionCall } from '../../core/request.ts'

/** The `this` of the function. */
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

  /** Created on demand, because most functions never use it. */
  get signal(): AbortSignal {
    this.#signal ??=
      this.#expiry === undefined ? this.#run : AbortSignal.any([this.#run, this.#expiry.signal])
    return this.#signal
  }

  /** Sets a time limit. `start` receives the function to call at the limit, and returns a function that cancels it. */
  limit(start: (expire: (reason: unknown) => void) => () => void): void {
    const expiry = new AbortController()
    this.#expiry = expiry
    this.#cancel = start((reason) => expiry.abort(reason))
  }

  /** Returns whether the call was open. */
  close(): boolean {
    if (this.#isClosed) return false
    this.#isClosed = true
    this.#cancel()
    return true
  }
}
