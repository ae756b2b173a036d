/**
 * A cell that was finished ahead of its run. If the runtime has a harness, a guest in it waits for the request: it has run
 * our harness and nothing else. The cell serves one run and ends with it.
 */
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { NetworkMode, RunRequest } from '../core/request.ts'
import type { StartKind } from '../core/result.ts'
import { buildCell } from '../jail/build-cell.ts'
import type { BuiltCell } from '../jail/build-cell.ts'
import { isStepFailure } from '../jail/cell-reports.ts'
import type { StepFailure } from '../jail/cell-reports.ts'
import { explainFailure } from '../jail/launch.ts'
import type { Place } from '../jail/place.ts'
import type { Zygote } from '../jail/zygote-cell.ts'
import { encodeGuestRequest } from './channel.ts'
import type { ParkRequest } from './channel-protocol.ts'
import { buildMs, followRun, tooLong } from './follow-run.ts'
import type { RunContext, RunEnd } from './follow-run.ts'
import { beginSpec, parkSpec, startSpec } from './guest-start.ts'
import type { Task } from './guest-start.ts'
import type { Run } from './run.ts'
import { writeGuestRequest } from './guest-request.ts'
import { whenAborted } from './patience.ts'
import { workspaceFiles } from './runtime.ts'
import type { Program } from './runtime.ts'
import { WaitingGuest } from './waiting-guest.ts'

export interface ParkContext extends RunContext {
  /** The guest is to be a fork of it. */
  readonly zygote?: Zygote
  readonly place: Place
  readonly network: NetworkMode
  /** When it is aborted before the worker waits there is none: what is loaded ahead may never come to its end. */
  readonly signal?: AbortSignal
  /** What the harness loads ahead; null for a cell without a guest. */
  readonly park: ParkRequest | null
}

export class ParkedWorker implements AsyncDisposable {
  readonly place: Place
  readonly start: StartKind
  readonly #program: Program
  /** Resolves when it can no longer serve a run. */
  readonly lost: Promise<unknown>
  readonly #built: BuiltCell
  readonly #context: ParkContext
  readonly #guest: WaitingGuest | null
  #isTaken = false

  private constructor(
    built: BuiltCell,
    program: Program,
    { context, guest }: { readonly context: ParkContext; readonly guest: WaitingGuest | null },
  ) {
    this.#program = program
    this.place = context.place
    this.start = context.zygote === undefined ? 'parked' : 'forked'
    this.#built = built
    this.#context = context
    this.#guest = guest
    this.lost = guest === null ? built.cell.gone : Promise.race([built.cell.gone, guest.ended])
  }

  /** Resolves when it waits. Throws when it cannot be had, with nothing left behind. */
  static async park(program: Program, context: ParkContext): Promise<ParkedWorker> {
    const { machine, clock, limits, place, network, readable, park, zygote } = context
    const shape = {
      binds: [...program.binds, ...readable],
      network,
      place,
      diskBytes: limits.diskBytes,
    }
    const built =
      zygote === undefined
        ? await buildCell({ shape, limits, hasChannel: park !== null }, machine, clock)
        : await zygote.build(limits)
    const late = Promise.withResolvers<never>()
    const patience = clock.after(buildMs, () => late.reject(tooLong()))
    const { signal } = context
    const stop = signal && whenAborted(signal, () => late.reject(new LazaretError('DISPOSED')))
    late.promise.catch(() => undefined)
    try {
      // A worker that waits keeps its host from nothing, its end included.
      built.cell.hold(false)
      const on = { machine, ground: built.ground, place, zygote }
      const guest = park && new WaitingGuest(built, parkSpec(program, limits, on), park)
      await Promise.race([Promise.all([readiness(built), guest?.waiting]), late.promise])
      return new ParkedWorker(built, program, { context, guest })
    } catch (error) {
      built.cell.hold(true)
      await built.clean().catch(() => undefined)
      throw error
    } finally {
      patience()
      stop?.()
    }
  }

  /** The program for its run: what differs from the one that it was parked with. Throws INPUT_TOO_LARGE. */
  fit(request: RunRequest, limits: Limits): Program {
    const { language } = request
    if (language === 'shell') throw new Error('A shell is started by its run.')
    const guestRequest = writeGuestRequest(language, request, limits)
    return { ...this.#program, files: workspaceFiles(request, this.place), guestRequest }
  }

  /** The cell's pid 1, for diagnosis: a host pid, or for a fork a pid in the zygote's own namespace. */
  get pid1(): number | undefined {
    return this.#built.cell.pid1
  }

  /** The run it is for, once. Null when the worker turned out to be lost: then nothing of the task has run. */
  async run(task: Task): Promise<RunEnd | null> {
    if (this.#isTaken) throw new Error('A worker serves one run.')
    this.#isTaken = true
    const built = this.#built
    const { machine, clock, limits: parked } = this.#context
    const { request, limits, program } = task
    built.cell.hold(true)
    try {
      const isOther = limits.memoryBytes !== parked.memoryBytes || limits.processesMax !== parked.processesMax
      if (isOther) built.ground.cgroup?.limit(limits)
    } catch {
      // It uses more than the run may. What that means a worker of its own will show.
      await built.clean().catch(() => undefined)
      return null
    }
    const cpuMsBefore = built.ground.cgroup?.cpuMs() ?? 0
    const parts = { request, context: { machine, clock, limits }, place: this.place, cpuMsBefore }
    let begun: Run | undefined
    try {
      return await followRun(built, parts, (run) => {
        begun = run
        for (const { path, bytes, mode } of program.files) built.cell.put(path, bytes, mode)
        this.#start(run, task)
      })
    } catch (error) {
      if (begun?.hasBegun === false && this.#isLoss(error)) return null
      throw error
    }
  }

  /** Ends it unused. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isTaken) return
    this.#isTaken = true
    this.#built.cell.hold(true)
    await this.#built.clean()
  }

  /** An empty cell may have started the program, and have been lost before it could say so. */
  #isLoss(error: unknown): boolean {
    if (!(error instanceof LazaretError)) return false
    return error.code === 'WORKER_LOST' || (error.code === 'CELL_FAILED' && this.#guest !== null)
  }

  #start(run: Run, { program, request, limits }: Task): void {
    const { cell, ground, plan } = this.#built
    const { machine, limits: parked, zygote } = this.#context
    const on = { machine, ground, place: this.place, zygote }
    const onFailure = (failure: StepFailure) => run.fail(explainFailure(failure, plan))
    if (this.#guest === null) {
      cell.spawn(startSpec({ program, request, limits }, on), run, onFailure)
      return
    }
    const spec = beginSpec({ program, request, limits, parked }, on)
    if (!this.#guest.begin(spec, { listener: run, onFailure })) {
      run.fail(new LazaretError('WORKER_LOST', { detail: 'The worker had ended.' }))
      return
    }
    run.onMain((exitCode) => this.#guest?.finish(exitCode))
    const { guestRequest } = program
    if (guestRequest === undefined) return
    // The request lets the guest's code in: it follows when the cell has said that the run's limits hold. So a worker
    // that is lost before has run nothing of it, for certain.
    void run.started.then(
      () => run.hasBegun && cell.channel?.write(encodeGuestRequest(guestRequest)),
      () => undefined,
    )
  }
}

function readiness({ cell, plan }: BuiltCell): Promise<unknown> {
  return cell.ready.catch((error: unknown) => {
    throw isStepFailure(error) ? explainFailure(error, plan) : error
  })
}
