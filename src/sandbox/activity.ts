/** Whether a call into a sandbox is pending. Without one, the sandbox is idle and keeps no host process alive. */
import type { Clock } from '../core/clock.ts'

export interface ActivityParts {
  readonly clock: Clock
  readonly hold: (isHeld: boolean) => void
  readonly idleTimeoutMs: number | undefined
  readonly onIdle: () => void
}

export class Activity {
  readonly #parts: ActivityParts
  #busy = 0
  #stopIdling: () => void = () => undefined
  #isOver = false

  constructor(parts: ActivityParts) {
    this.#parts = parts
    this.#rest()
  }

  /** Marks activity until the returned function is called. */
  enter(): () => void {
    this.#stopIdling()
    if (this.#busy++ === 0) this.#parts.hold(true)
    return () => {
      if (--this.#busy === 0 && !this.#isOver) this.#rest()
    }
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    const leave = this.enter()
    try {
      return await work()
    } finally {
      leave()
    }
  }

  /** Call this when the sandbox begins to end: its end keeps the host process alive. */
  end(): void {
    this.#isOver = true
    this.#stopIdling()
    this.#parts.hold(true)
  }

  #rest(): void {
    const { clock, hold, idleTimeoutMs, onIdle } = this.#parts
    hold(false)
    if (idleTimeoutMs !== undefined) this.#stopIdling = clock.every(idleTimeoutMs, onIdle)
  }
}
