/** Sends a program's output to the client while it runs: a few messages per second, however often the program writes. */
import type { Clock } from '../../core/clock.ts'

/**
 * Between two messages. Text still appears smoothly, and a program that writes single characters costs no more than
 * others.
 */
const intervalMs = 50
/** This much output is sent at once, without waiting for the interval. */
const heldLengthMax = 64 * 1024

export type SendProgress = (progress: number, message: string) => Promise<void>

export class Progress {
  readonly #send: SendProgress
  readonly #clock: Clock
  #held = ''
  /** The number of characters sent, because the protocol requires a number that increases. */
  #length = 0
  #sentAt = -intervalMs
  #sending: Promise<void> = Promise.resolve()
  #cancelTimer: (() => void) | undefined

  constructor(send: SendProgress, clock: Clock) {
    this.#send = send
    this.#clock = clock
  }

  /** Resolves when the client can take more; until then the program waits. */
  async push(text: string): Promise<void> {
    this.#held += text
    if (this.#held.length >= heldLengthMax) return this.#flush()
    const waitMs = this.#sentAt + intervalMs - this.#clock.now()
    if (waitMs <= 0) return this.#flush()
    this.#cancelTimer ??= this.#clock.after(waitMs, () => void this.#flush())
  }

  /** Sends what is left. */
  async end(): Promise<void> {
    await this.#flush()
  }

  #flush(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    const message = this.#held
    if (message === '') return this.#sending
    this.#held = ''
    this.#length += message.length
    const progress = this.#length
    this.#sentAt = this.#clock.now()
    // If the client is gone, the signal ends its run.
    this.#sending = this.#sending.then(() => this.#send(progress, message)).catch(() => undefined)
    return this.#sending
  }
}
