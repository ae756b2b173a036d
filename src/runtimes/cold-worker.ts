/** A worker that is started by its run, behind the best wall that the machine has. */
import type { Clock } from '../core/clock.ts'
import { behindBestWall } from '../jail/best-wall.ts'
import type { BestWall } from '../jail/best-wall.ts'
import type { Bind } from '../jail/shape.ts'
import type { RunEnd } from './follow-run.ts'
import type { Job } from './guest-start.ts'
import { runInCell } from './run-in-cell.ts'
import type { Runtime } from './runtime.ts'
import type { Toolchains } from './toolchains.ts'
import type { Worker } from './worker.ts'

/** What every worker in a cell is made of. */
export interface CellParts {
  readonly wall: BestWall
  readonly clock: Clock
  readonly toolchains: Toolchains
  /** The operator's read-only folders. */
  readonly readable: readonly Bind[]
}

export class ColdWorker implements Worker {
  readonly start = 'cold'
  readonly #parts: CellParts
  readonly #runtime: Runtime
  readonly #onStarted: () => void

  /** `onStarted` is called when the guest executes, or will not. */
  constructor(parts: CellParts, runtime: Runtime, onStarted: () => void) {
    this.#parts = parts
    this.#runtime = runtime
    this.#onStarted = onStarted
  }

  async run(job: Job): Promise<RunEnd> {
    const { wall, clock, toolchains, readable } = this.#parts
    try {
      return await behindBestWall(wall, (place) => {
        const program = this.#runtime.prepare(job.spec, job.limits, { toolchains, place })
        const context = { machine: wall.machine, clock, readable, place, onStarted: this.#onStarted }
        return runInCell({ ...job, program }, context)
      })
    } finally {
      this.#onStarted()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#onStarted()
  }
}
