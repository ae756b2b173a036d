/**
 * The resources that cells have taken and not yet returned. Returning can fail, because the kernel keeps a cgroup while
 * anything is in it. Failures stay listed here. They are tried again as further resources are taken, for a while every
 * second, and when the machine ends.
 */
import { systemClock } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'

const retryEveryMs = 1000
/** A process that ends on a busy machine takes seconds. One that never ends is not waited for. */
const retriesMax = 300

export class Leases {
  readonly #clock: Clock
  readonly #unreturned = new Set<() => void>()
  readonly #failed = new Set<() => void>()
  #stopRetries: (() => void) | undefined

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** `giveBack` may throw; the returned function calls it until it succeeds. */
  add(giveBack: () => void): () => void {
    this.#tryOneAgain()
    const release = (): void => {
      if (!this.#unreturned.has(release)) return
      try {
        giveBack()
      } catch (error) {
        this.#failed.add(release)
        this.#retry()
        throw error
      }
      this.#failed.delete(release)
      this.#unreturned.delete(release)
    }
    this.#unreturned.add(release)
    return release
  }

  get unreturned(): readonly (() => void)[] {
    return [...this.#unreturned]
  }

  /** Until nothing has failed. */
  #retry(): void {
    if (this.#stopRetries !== undefined) return
    let retries = 0
    this.#stopRetries = this.#clock.every(retryEveryMs, () => {
      this.#tryOneAgain()
      if (this.#failed.size > 0 && ++retries < retriesMax) return
      this.#stopRetries?.()
      this.#stopRetries = undefined
    })
  }

  /** Whoever took it gave up after half a second. One at a time, so that many failures do not make each run slow. */
  #tryOneAgain(): void {
    const [oldest] = this.#failed
    if (oldest === undefined) return
    this.#failed.delete(oldest)
    try {
      oldest()
    } catch {
      // It is last in the list now, and reported when the machine ends.
    }
  }
}
