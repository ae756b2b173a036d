/**
 * One process of a cell as the host sees it, from its start to its end: the part that all its listeners share. It
 * starts once, and ends once or is lost. Nothing that was set up for it outlives it.
 */
export class ProcessLife<End> {
  readonly #start = Promise.withResolvers<void>()
  readonly #end = Promise.withResolvers<End>()
  readonly #cancels: (() => void)[] = []
  #isOver = false

  constructor() {
    // Handled here, because not every caller waits for both.
    for (const promise of [this.started, this.ended]) promise.catch(() => undefined)
  }

  /** Resolves when foreign code may run, or will not because it has been ended; rejects when it could not be started. */
  get started(): Promise<void> {
    return this.#start.promise
  }

  /** Resolves with its end; rejects when there is none to tell of. */
  get ended(): Promise<End> {
    return this.#end.promise
  }

  /** Whether what arrives from now on counts for nothing. */
  get isOver(): boolean {
    return this.#isOver
  }

  start(): void {
    this.#start.resolve()
  }

  /** Its end follows. */
  failStart(error: unknown): void {
    this.#start.reject(error)
  }

  /** Keeps what has to be cancelled when it is over. */
  until(cancel: () => void): void {
    this.#cancels.push(cancel)
  }

  /** Cancels all that now. */
  cancel(): void {
    for (const cancel of this.#cancels.splice(0)) cancel()
  }

  /** The process is over, but its end may still have to be reported. */
  stop(): void {
    this.#isOver = true
    this.cancel()
  }

  end(how: End): void {
    this.stop()
    this.#start.resolve()
    this.#end.resolve(how)
  }

  fail(error: unknown): void {
    this.stop()
    this.#start.reject(error)
    this.#end.reject(error)
  }
}
