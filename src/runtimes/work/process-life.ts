/**
 * The life of one process of a cell as the host sees it, shared by all kinds of listeners. A process starts once, and ends
 * once or is lost. Timers and listeners that were set up for it end with it.
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

  /** Resolves when guest code may run, or when the process has ended before; rejects if it could not be started. */
  get started(): Promise<void> {
    return this.#start.promise
  }

  /** Resolves with the end; rejects if the process was lost. */
  get ended(): Promise<End> {
    return this.#end.promise
  }

  /** Whether later events are ignored. */
  get isOver(): boolean {
    return this.#isOver
  }

  start(): void {
    this.#start.resolve()
  }

  /** The process could not be started. Its end is reported separately. */
  failStart(error: unknown): void {
    this.#start.reject(error)
  }

  /** Registers a function that is called when the process is over. */
  until(cancel: () => void): void {
    this.#cancels.push(cancel)
  }

  /** Calls the registered functions now. */
  cancel(): void {
    for (const cancel of this.#cancels.splice(0)) cancel()
  }

  /** The process is over. Its end may still have to be reported. */
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
