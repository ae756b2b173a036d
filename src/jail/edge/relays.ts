/** The relay of this host: started when the first policy is asked for, and again when it was lost. */
import { systemClock } from '../../core/clock.ts'
import type { Lookup } from './lookups.ts'
import { Lookups } from './lookups.ts'
import { RelayProcess } from './relay-process.ts'

export class Relays implements AsyncDisposable {
  readonly lookups: Lookups
  #process: RelayProcess | undefined

  constructor(lookup?: Lookup) {
    this.lookups = new Lookups(systemClock, lookup)
  }

  /** The current relay, for tests and diagnosis. */
  get process(): RelayProcess | undefined {
    return this.#process?.isLost === false ? this.#process : undefined
  }

  /** Resolves when it listens. Throws CELL_FAILED or JAIL_UNAVAILABLE. */
  async current(): Promise<RelayProcess> {
    const relay = this.process ?? new RelayProcess()
    this.#process = relay
    await relay.standing
    return relay
  }

  /** Call when every cell is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.lookups[Symbol.dispose]()
    await this.#process?.end()
    this.#process = undefined
  }
}
