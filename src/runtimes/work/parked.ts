/**
 * A cell that was built ahead of its run. If the runtime has a harness, a guest in the cell waits for the request: it has run
 * only the harness. The cell serves one run and ends with it.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import { networkModeOf } from '../../core/network.ts'
import type { Network } from '../../core/network.ts'
import type { StartKind } from '../../core/receipt.ts'
import { buildCell } from '../../jail/cell/build-cell.ts'
import type { BuiltCell } from '../../jail/cell/build-cell.ts'
import type { StepFailure } from '../../jail/cell/cell-reports.ts'
import { openEdge } from '../../jail/edge/open-edge.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import type { CgroupFigures } from '../../jail/limits/limit-rows.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import type { Place } from '../../jail/plan/place.ts'
import type { Zygote } from '../../jail/cell/zygote-cell.ts'
import { encodeGuestRequest } from '../channel/message-frame.ts'
import type { ParkRequest } from '../channel/channel-protocol.ts'
import { followRun } from './follow-run.ts'
import type { RunContext, RunEnd } from './follow-run.ts'
import { beginSpec, holdLimits, holdParked, parkSpec, startSpec } from './guest-start.ts'
import type { GuestGround, HeldTask, Job } from './guest-start.ts'
import type { Run } from './run.ts'
import { writeGuestRequest } from './guest-request.ts'
import { workspaceFiles } from '../runtime.ts'
import type { Program } from '../runtime.ts'
import { standWaiting } from './waiting-cell.ts'
import { WaitingGuest } from './waiting-guest.ts'
import type { ReadyWorker } from './worker.ts'

export interface ParkContext extends RunContext {
  /** If present, the guest becomes a fork of it. */
  readonly zygote?: Zygote
  readonly place: Place
  /** The limits with which it is started. */
  readonly limits: Limits
  readonly network: Network
  /** Aborts the start of the worker, because loading ahead may never finish. */
  readonly signal?: AbortSignal
  /** What the harness loads ahead; null for a cell without a guest. */
  readonly park: ParkRequest | null
  /** For a cell without a guest: prepares the program of its job. Throws INPUT_TOO_LARGE. */
  readonly prepare: (job: Job, place: Place) => Program
}

interface Parking {
  readonly context: ParkContext
  readonly guest: WaitingGuest | null
  readonly parked: LimitPlan
}

/** The processes at the beginning: pid 1, the guest, and the helper of pid 1 that sets the guest's rlimits. */
const tasksAtBegin = 3

export class ParkedWorker implements ReadyWorker {
  readonly start: StartKind
  readonly #program: Program
  /** Resolves when it can no longer serve a run. */
  readonly lost: Promise<unknown>
  readonly #built: BuiltCell
  readonly #context: ParkContext
  readonly #guest: WaitingGuest | null
  /** The limits that it was started with. */
  readonly #parked: LimitPlan
  #isTaken = false

  private constructor(built: BuiltCell, program: Program, { context, guest, parked }: Parking) {
    this.#program = program
    this.#parked = parked
    this.start = context.zygote?.forks === true ? 'forked' : 'parked'
    this.#built = built
    this.#context = context
    this.#guest = guest
    this.lost = guest === null ? built.cell.gone : Promise.race([built.cell.gone, guest.ended])
  }

  /** Resolves when the worker is parked. If that fails, it throws and leaves nothing behind. */
  static async park(program: Program, context: ParkContext): Promise<ParkedWorker> {
    const { machine, clock, limits, place, network, readable, park, zygote } = context
    const shape = {
      binds: [...program.binds, ...readable],
      network: networkModeOf(network),
      place,
      diskBytes: limits.diskBytes,
    }
    const edge = openEdge(network, context)
    const built =
      zygote === undefined
        ? await buildCell({ shape, limits, hasChannel: park !== null, edge }, machine, clock)
        : await zygote.build(limits, edge)
    const on = { machine, ground: built.ground, place, zygote }
    const parked = holdParked(program, limits, on)
    const startGuest = () =>
      park &&
      new WaitingGuest(built, parkSpec(program, parked, on), {
        park: { ...park, folder: place.workspace },
        clock,
      })
    const guest = await standWaiting(built, startGuest, context)
    return new ParkedWorker(built, program, { context, guest, parked })
  }

  /** The program for the run. For a waiting guest, only its files and its request are new. */
  #prepare(job: Job): Program {
    const { spec, limits } = job
    const { prepare, place } = this.#context
    const { language } = spec
    if (this.#guest === null || language === 'shell') return prepare(job, place)
    const { env } = spec
    const guestRequest = {
      ...writeGuestRequest(language, spec, limits),
      ...(env === undefined ? {} : { env }),
    }
    return { ...this.#program, files: workspaceFiles(spec, place), guestRequest }
  }

  /** The cell's pid 1, for diagnosis: a host pid, or for a fork a pid in the zygote's own namespace. */
  get pid1(): number | undefined {
    return this.#built.cell.pid1
  }

  async run(job: Job): Promise<RunEnd | null> {
    if (this.#isTaken) throw new Error('A worker serves one run.')
    // May throw a refusal: then the worker is not taken.
    const program = this.#prepare(job)
    this.#isTaken = true
    const built = this.#built
    const { machine, clock, place } = this.#context
    const held = holdLimits(program, job.limits, this.#on)
    built.cell.hold(true)
    try {
      this.#limitCgroup(held)
    } catch {
      // The worker already uses more than the run's limit. The run gets a new worker instead.
      await built.clean().catch(() => undefined)
      return null
    }
    const cpuMsBefore = built.ground.cgroup?.cpuMs() ?? 0
    const parts = { job, context: { machine, clock }, place, held, cpuMsBefore }
    let begun: Run | undefined
    try {
      return await followRun(built, parts, (run) => {
        begun = run
        for (const { path, bytes, mode } of program.files) built.cell.put(path, bytes, mode)
        this.#start(run, { ...job, program, held })
      })
    } catch (error) {
      if (begun?.hasBegun === false && this.#isLoss(error)) return null
      throw error
    }
  }

  /** Ends the worker, unless it was taken. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isTaken) return
    this.#isTaken = true
    this.#built.cell.hold(true)
    await this.#built.clean()
  }

  /** Whether the worker was lost before the run began. For a cell without a guest, CELL_FAILED does not prove that. */
  #isLoss(error: unknown): boolean {
    if (!(error instanceof LazaretError)) return false
    return error.code === 'WORKER_LOST' || (error.code === 'CELL_FAILED' && this.#guest !== null)
  }

  get #on(): GuestGround {
    const { machine, place, zygote } = this.#context
    return { machine, ground: this.#built.ground, place, zygote }
  }

  /** Throws if the worker already uses more. */
  #limitCgroup({ cgroup }: LimitPlan): void {
    if (cgroup !== null) this.#built.ground.cgroup?.limit(this.#withHelper(cgroup))
  }

  /** At BEGIN pid 1 forks a helper that sets the guest's rlimits. It ends before guest code arrives. */
  #withHelper(cgroup: CgroupFigures): CgroupFigures {
    const tasksMax = Math.max(cgroup.tasksMax, tasksAtBegin)
    return this.#guest === null ? cgroup : { ...cgroup, tasksMax }
  }

  /** Sets the task limit again, without the helper. Throws if the kernel refuses that. */
  #withoutHelper({ cgroup }: LimitPlan): void {
    if (cgroup === null || this.#withHelper(cgroup).tasksMax === cgroup.tasksMax) return
    this.#built.ground.cgroup?.limit(cgroup)
  }

  #start(run: Run, task: HeldTask): void {
    const { cell, plan } = this.#built
    const on = this.#on
    const onFailure = (failure: StepFailure) => run.fail(explainFailure(failure, plan))
    if (this.#guest === null) {
      cell.spawn(startSpec(task, on), run, onFailure)
      return
    }
    const begin = beginSpec(task, this.#parked, on)
    if (!this.#guest.begin(begin, { listener: run, onFailure })) {
      run.fail(new LazaretError('WORKER_LOST', { detail: 'The worker had ended.' }))
      return
    }
    run.onMain((exitCode) => this.#guest?.finish(exitCode))
    const { guestRequest } = task.program
    if (guestRequest === undefined) return
    // The request contains guest code, so it is sent only after the cell has confirmed that the run's limits apply. So a
    // worker that is lost before has certainly run none of it.
    const sendRequest = () => {
      if (!run.hasBegun) return
      try {
        this.#withoutHelper(task.held)
        cell.channel?.write(encodeGuestRequest(guestRequest))
      } catch (cause) {
        run.fail(new LazaretError('CELL_FAILED', { detail: 'The limit on processes cannot be set.', cause }))
      }
    }
    void run.started.then(sendRequest, () => undefined)
  }
}
