/** Makes workers in cells: started for their run, parked ahead of it, or forked from an interpreter. */
import { LazaretError } from '../core/errors/errors.ts'
import type { Limits } from '../core/limits.ts'
import { behindBestWall } from '../jail/machine/best-wall.ts'
import { ownView } from '../jail/plan/place.ts'
import { ColdWorker } from '../runtimes/work/cold-worker.ts'
import type { CellParts } from '../runtimes/work/cold-worker.ts'
import { ParkedWorker } from '../runtimes/work/parked.ts'
import { showFolders } from '../runtimes/packages/guest-packages.ts'
import type { ShownFolders } from '../runtimes/packages/guest-packages.ts'
import type { ParkContext } from '../runtimes/work/parked.ts'
import type { Program } from '../runtimes/runtime.ts'
import type { Zygote } from '../jail/cell/zygote-cell.ts'
import { proveZygote } from './prove-zygote.ts'
import { mayFork, parkRequestOf } from './shape.ts'
import type { PoolSizes, WorkerShape } from './shape.ts'
import type { Leave } from './start-gate.ts'
import { Zygotes } from './zygotes.ts'
import type { ProveZygote } from './zygotes.ts'

/** `readable` and `packages` are the operator's. */
export interface CellWorkersParts extends CellParts, ShownFolders {
  /** Limits of a request that asks for none. */
  readonly usual: Limits
  readonly sizes: PoolSizes
  /** Called when forks of a runtime are refused; for some time its workers are started one by one. */
  readonly onZygoteFailing: (shape: WorkerShape, reason: unknown) => void
}

export class CellWorkers implements AsyncDisposable {
  readonly #parts: CellWorkersParts
  readonly #zygotes: Zygotes
  /** What all forks of a shape have in common. They differ only in their requests. */
  readonly #programs = new WeakMap<Zygote, Map<string, Program>>()

  constructor(parts: CellWorkersParts) {
    this.#parts = parts
    const prove: ProveZygote = (zygote, shape, signal) =>
      proveZygote(shape, { usual: parts.usual, signal, park: () => this.#forkOf(zygote, shape, signal) })
    this.#zygotes = new Zygotes({ ...parts, machine: parts.wall.machine, prove })
  }

  /** `leave` is called when its guest executes, or when it is certain that it will not. */
  cold(shape: WorkerShape, leave: Leave): ColdWorker {
    return new ColdWorker({ ...this.#parts, ...this.#shown(shape) }, shape.runtime, leave)
  }

  /**
   * Resolves when the worker is parked. If that fails, it throws and leaves nothing behind; DISPOSED if `signal`
   * aborts.
   */
  async park(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker> {
    const { runtime, language, limits } = shape
    const { wall, toolchains } = this.#parts
    const forked = mayFork(shape, this.#parts.sizes) ? await this.#fork(shape, signal) : null
    if (forked !== null) return forked
    if (signal.aborted) throw new LazaretError('DISPOSED')
    return behindBestWall(wall, (place) => {
      const { packages } = this.#shown(shape)
      const program = runtime.prepare({ language, code: '' }, limits, { toolchains, packages, place })
      return ParkedWorker.park(program, this.#contextOf(shape, { place, signal }))
    })
  }

  /** A fork, which is ready sooner than a cell, if its interpreter is running; else null. */
  async forkAtOnce(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker | null> {
    return mayFork(shape, this.#parts.sizes) && this.#zygotes.stands(shape) ? this.#fork(shape, signal) : null
  }

  /**
   * Ends the interpreters that workers are forked from, except those of these shapes. They are created again on demand.
   */
  closeZygotes(but: readonly WorkerShape[] = []): Promise<void> {
    return this.#zygotes.close(but.filter((shape) => mayFork(shape, this.#parts.sizes)))
  }

  /**
   * For a host that is ending: until the returned function is called, forks that do not end in time are ended with
   * their interpreter.
   */
  endGuestsLater(): () => void {
    return this.#zygotes.endGuestsLater()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#zygotes[Symbol.asyncDispose]()
  }

  /** Null if no zygote can be used, or if its zygote is full. */
  async #fork(shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker | null> {
    if (this.#parts.wall.machine.wall !== 'namespaces') return null
    const zygote = await this.#zygotes.take(shape)
    if (zygote === null) return null
    try {
      return await this.#forkOf(zygote, shape, signal)
    } catch {
      if (!signal.aborted) this.#zygotes.giveUp(shape)
      return null
    }
  }

  #forkOf(zygote: Zygote, shape: WorkerShape, signal: AbortSignal): Promise<ParkedWorker> {
    const program = this.#programOf(zygote, shape)
    return ParkedWorker.park(program, this.#contextOf(shape, { place: ownView, signal, zygote }))
  }

  /** Prepared once for each zygote, whose files all its forks see. */
  #programOf(zygote: Zygote, shape: WorkerShape): Program {
    const { runtime, language, limits, key } = shape
    const { toolchains } = this.#parts
    const { packages } = this.#shown(shape)
    const known = this.#programs.get(zygote) ?? new Map<string, Program>()
    this.#programs.set(zygote, known)
    const program =
      known.get(key) ??
      runtime.prepare({ language, code: '' }, limits, { toolchains, packages, place: ownView })
    known.set(key, program)
    return program
  }

  #contextOf(shape: WorkerShape, own: Pick<ParkContext, 'place' | 'signal' | 'zygote'>): ParkContext {
    const { runtime, network, limits } = shape
    const { wall, clock, toolchains } = this.#parts
    const { packages, readable } = this.#shown(shape)
    const prepare: ParkContext['prepare'] = (job, place) =>
      runtime.prepare(job.spec, job.limits, { toolchains, packages, place })
    const common = { machine: wall.machine, clock, limits, readable, network, prepare }
    return { ...common, ...own, park: parkRequestOf(shape) }
  }

  #shown({ environment }: WorkerShape): ShownFolders {
    return showFolders(this.#parts, environment)
  }
}
