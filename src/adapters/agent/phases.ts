/** How long each phase of an execution took. */
import type { Clock } from '../../core/clock.ts'
import { phaseNames } from './agent-types.ts'
import type { PhaseName } from './agent-types.ts'

export class Phases {
  readonly #clock: Pick<Clock, 'now'>
  readonly #tookMs = new Map<PhaseName, number>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  async time<T>(name: PhaseName, act: () => Promise<T> | T): Promise<T> {
    const startedAt = this.#clock.now()
    try {
      return await act()
    } finally {
      this.#tookMs.set(name, (this.#tookMs.get(name) ?? 0) + this.#clock.now() - startedAt)
    }
  }

  get ms(): Readonly<Record<PhaseName, number>> {
    const entries = phaseNames.map((name) => [name, this.#tookMs.get(name) ?? 0])
    return Object.fromEntries(entries) as Record<PhaseName, number>
  }
}
