/** How workers in cells come to be: started by their run, parked ahead of it, or forked from an interpreter. */
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import { behindBestWall } from '../jail/best-wall.ts'
import { ownView } from '../jail/place.ts'
import { ColdWorker } from '../runtimes/cold-worker.ts'
import type { CellParts } from '../runtimes/cold-worker.ts'
import { ParkedWorker } from '../runtimes/parked.ts'
import type { ParkContext } from '../runtimes/parked.ts'
import { parkRequestOf } from './shape.ts'
import type { WorkerShape } from './shape.ts'
import type { Leave } from './start-gate.ts'
import { Zygotes } from './zygotes.ts'

export interface CellWorkersParts extends CellParts {
  /** Limits of a request that asks for none. */
  readonly usual: Limits
}

export class CellWorkers implements AsyncDisposable {
  readonly #parts: CellWorkersParts
  readonly #zygotes: Zygotes

  constructor(parts: CellWorkersParts) {
    this.#parts = parts
    this.#zygotes = new Zygotes({ ...parts, machine: parts.wall.machine })
  }

  /** `leave` is called when its guest executes, or will not. */
  cold({ runtime }: WorkerShape, leave: Leave): ColdWorker {
    return new ColdWorker(this.#parts, runtime, leave)
  }

  /** Resolves when it waits. Throws when it cannot be had, with nothing left behind; DISPOSED when `signal` is aborted. */
  async park(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker> {
    const { runtime, language, limits } = shape
    const { wall, toolchains } = this.#parts
    const forked = canFork(shape) ? await this.#fork(shape, signal) : null
    if (forked !== null) return forked
    if (signal.aborted) throw new LazaretError('DISPOSED')
    return behindBestWall(wall, (place) => {
      const program = runtime.prepare({ language, code: '' }, limits, { toolchains, place })
      return ParkedWorker.park(program, this.#contextOf(shape, { place, signal }))
    })
  }

  /** A fork where its interpreter stands already, which is there sooner than a cell; else null. */
  async forkAtOnce(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker | null> {
    return canFork(shape) && this.#zygotes.stands(shape.preload) ? this.#fork(shape, signal) : null
  }

  /** The interpreters that workers are forked from. They come again when one is asked for. */
  closeZygotes(): Promise<void> {
    return this.#zygotes.close()
  }

  /** For a host that ends: forks that are not gone in time end with their interpreter, until what this returns is called. */
  endGuestsLater(): () => void {
    return this.#zygotes.endGuestsLater()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#zygotes[Symbol.asyncDispose]()
  }

  /** Null where the road is closed, or full. */
  async #fork(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker | null> {
    const { runtime, preload, limits } = shape
    const { wall, toolchains } = this.#parts
    if (wall.machine.wall !== 'namespaces') return null
    const zygote = await this.#zygotes.take(preload)
    if (zygote === null) return null
    const program = runtime.prepare({ language: 'python', code: '' }, limits, { toolchains, place: ownView })
    try {
      return await ParkedWorker.park(program, this.#contextOf(shape, { place: ownView, signal, zygote }))
    } catch {
      if (!signal.aborted) this.#zygotes.giveUp(preload)
      return null
    }
  }

  #contextOf(shape: WorkerShape, own: Pick<ParkContext, 'place' | 'signal' | 'zygote'>): ParkContext {
    const { runtime, network, limits } = shape
    const { wall, clock, toolchains, readable } = this.#parts
    const prepare: ParkContext['prepare'] = (job, place) =>
      runtime.prepare(job.spec, job.limits, { toolchains, place })
    const common = { machine: wall.machine, clock, limits, readable, network, prepare }
    return { ...common, ...own, park: parkRequestOf(shape) }
  }
}

/** Whether workers of this shape can be forks. */
export const canFork = ({ runtime, network }: WorkerShape): boolean =>
  runtime.name === 'python' && network === 'none'
