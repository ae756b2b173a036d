/** A worker that is started for its run, behind the best wall that the machine supports. */
import type { Clock } from '../../core/clock.ts'
import { behindBestWall } from '../../jail/machine/best-wall.ts'
import type { BestWall } from '../../jail/machine/best-wall.ts'
import type { RunEnd } from './follow-run.ts'
import type { Job } from './guest-start.ts'
import { runInCell } from './run-in-cell.ts'
import type { Runtime } from '../runtime.ts'
import type { ShownFolders } from '../packages/guest-packages.ts'
import type { Toolchains } from '../packages/toolchains.ts'
import type { Worker } from './worker.ts'

/** What every worker in a cell needs. */
export interface CellParts {
  readonly wall: BestWall
  readonly clock: Clock
  readonly toolchains: Toolchains
}

/** The same, with the folders that the worker's cell shows. */
export interface ShownParts extends CellParts, ShownFolders {}

export class ColdWorker implements Worker {
  readonly start = 'cold'
  readonly #parts: ShownParts
  readonly #runtime: Runtime
  readonly #onStarted: () => void

  /** `onStarted` is called when the guest executes, or when it is certain that it will not. */
  constructor(parts: ShownParts, runtime: Runtime, onStarted: () => void) {
    this.#parts = parts
    this.#runtime = runtime
    this.#onStarted = onStarted
  }

  async run(job: Job): Promise<RunEnd> {
    const { wall, clock, toolchains, packages, readable } = this.#parts
    try {
      return await behindBestWall(wall, (place) => {
        const program = this.#runtime.prepare(job.spec, job.limits, { toolchains, packages, place })
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
