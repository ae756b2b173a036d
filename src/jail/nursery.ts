/**
 * Whether this host has a nursery. Starting a program blocks a large Node for milliseconds, so a host that builds more
 * than one cell starts a nursery once and lets that fork the launchers. Wherever it cannot, launchers are started as
 * the first one was.
 */
import { NurseryProcess } from './nursery-process.ts'
import type { Launch } from './launches.ts'

/** After so many nurseries that ended before they stood, this machine has none. */
const stillbornMax = 3

export class Nursery implements AsyncDisposable {
  #process: NurseryProcess | undefined
  #isWanted = false
  #isDisposed = false
  #stillborn = 0

  /** The one that stands, for tests and diagnosis. */
  get process(): NurseryProcess | undefined {
    return this.#process?.isStanding === true ? this.#process : undefined
  }

  /** Resolves with null where a launcher has to be started without it. Never rejects. */
  async launch(hasChannel: boolean): Promise<Launch | null> {
    return (await this.process?.launch(hasChannel)) ?? null
  }

  /**
   * A cell stands that was started without a nursery. At the second one a nursery is worth its price, and this moment
   * is the time for it: the host has nothing to do but to wait for its guest.
   */
  noteSpawned(): void {
    const isWanted = this.#isWanted
    this.#isWanted = true
    if (!isWanted || this.#isDisposed || this.#process?.isLost === false || this.#stillborn >= stillbornMax)
      return
    try {
      const process = new NurseryProcess()
      this.#process = process
      void process.standing.then(() => (this.#stillborn += process.isLost ? 1 : 0))
    } catch {
      // Out of descriptors, processes or memory; launchers say so themselves, and the next one asks again.
    }
  }

  /** Call when every cell is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await this.#process?.end()
  }
}
