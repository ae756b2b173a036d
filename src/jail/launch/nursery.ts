/**
 * Decides whether this host has a nursery. Starting a program blocks a large Node for milliseconds, so a host that
 * builds more than one cell starts a nursery once, which forks the launchers. If that fails, launchers are started like
 * the first one.
 */
import { NurseryProcess } from './nursery-process.ts'
import type { Launch } from './launches.ts'

/** After this many nurseries that ended before they were ready, this machine has none. */
const failedStartsMax = 3

export class Nursery implements AsyncDisposable {
  #process: NurseryProcess | undefined
  #isWanted = false
  #isDisposed = false
  #failedStarts = 0
  /** Where the nursery must be to start launchers: moves it there. Then no launcher is started without it. */
  hold: ((pid: number) => void) | undefined

  /** The current one, for tests and diagnosis. */
  get process(): NurseryProcess | undefined {
    return this.#process?.isStanding === true ? this.#process : undefined
  }

  /** Resolves with null if a launcher has to be started without it. Never rejects. */
  async launch(hasChannel: boolean): Promise<Launch | null> {
    if (this.hold !== undefined) await this.#keepHeld(this.hold)
    return (await this.process?.launch(hasChannel)) ?? null
  }

  /**
   * A cell was built without a nursery. From the second one on a nursery is worth its cost, and this is a good moment:
   * the host is only waiting for its guest.
   */
  noteSpawned(): void {
    const isWanted = this.#isWanted
    this.#isWanted = true
    if (
      !isWanted ||
      this.#isDisposed ||
      this.hold !== undefined ||
      this.#process?.isLost === false ||
      this.#failedStarts >= failedStartsMax
    )
      return
    try {
      const process = new NurseryProcess()
      this.#process = process
      void process.standing.then(() => (this.#failedStarts += process.isLost ? 1 : 0))
    } catch {
      // Out of descriptors, processes or memory. Starting a launcher reports that, and the next one tries again.
    }
  }

  /** Starts it now, because a process must be where launchers start. Returns its pid; throws if there can be none. */
  start(): number {
    this.#process = new NurseryProcess()
    return this.#process.pid as number
  }

  /** A lost one is replaced. If that is impossible, the cell cannot join its cgroup, which is then the error. */
  async #keepHeld(hold: (pid: number) => void): Promise<void> {
    if (this.#process?.isLost !== false && !this.#isDisposed) {
      try {
        hold(this.start())
      } catch {
        return
      }
    }
    await this.#process?.standing
  }

  /** Call when every cell is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await this.#process?.end()
  }
}
