/**
 * A worker of isolates: a cell with one Node process, which creates a V8 isolate for each program. The isolate is the first
 * barrier. The second is the cell; its process serves only one client.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import { defaultLimits } from '../../core/limits.ts'
import type { Limits } from '../../core/limits.ts'
import { behindBestWall } from '../../jail/machine/best-wall.ts'
import { buildCell } from '../../jail/cell/build-cell.ts'
import type { BuiltCell } from '../../jail/cell/build-cell.ts'
import type { GuestStream, ProcessListener, ProcessReport } from '../../jail/cell/guest-process.ts'
import { namesOfStanding } from '../../jail/layers/layers.ts'
import { heldByIsolate } from '../../jail/limits/plan-limits.ts'
import type { Place } from '../../jail/plan/place.ts'
import type { Exit } from '../../result/exit.ts'
import type { CellParts } from '../work/cold-worker.ts'
import { holdLimits, holdParked, parkSpec } from '../work/guest-start.ts'
import type { GuestGround, Job } from '../work/guest-start.ts'
import { writeGuestRequest } from '../work/guest-request.ts'
import { GuestWriter } from '../channel/guest-writer.ts'
import { frameMessage } from '../channel/message-frame.ts'
import type { Program } from '../runtime.ts'
import { standWaiting } from '../work/waiting-cell.ts'
import { WaitingGuest } from '../work/waiting-guest.ts'
import type { LastingWorker } from '../work/worker.ts'
import { prepareIsolates } from './host.ts'
import { IsolateRun } from './isolate-run.ts'
import type { IsolateMode, IsolateRequest, IsolatesPark, LibraryPlace } from './protocol.ts'

const MiB = 1024 * 1024

export interface IsolateJob extends Job {
  readonly mode: IsolateMode
}

export interface IsolateWorkerParts extends Omit<CellParts, 'readable'> {
  /** The libraries that programs may `require`, by name. */
  readonly libraries: Readonly<Record<string, LibraryPlace>>
  /** The heap size of isolates that are created ahead. A program that needs another size waits longer. */
  readonly memoryBytes: number
}

/** The worker's memory in addition to the isolate of one program: Node, and the isolates that are ready. */
const ownBytes = 320 * MiB
/** V8 allocates memory in addition to the heap that it counts. */
const heapFactor = 1.25
/** A worker is replaced after this many programs, so that leftovers in the process do not accumulate. */
const runsMax = 2000
/** After this time without a program, a worker is assumed to have an isolate ready. */
const refillMs = 5
/** The limit on the kept output of the engine, which prints why it aborts. */
const printedMax = 16 * 1024

interface Standing {
  readonly built: BuiltCell
  readonly guest: WaitingGuest
  readonly program: Program
  readonly on: GuestGround
  readonly facts: Pick<Exit, 'observed' | 'layers'>
}

export class IsolateWorker implements LastingWorker<IsolateJob, Exit>, ProcessListener {
  /** Resolves when the worker is lost. */
  readonly lost: Promise<unknown>
  readonly #parts: IsolateWorkerParts
  readonly #loss = Promise.withResolvers<unknown>()
  readonly #ending = new AbortController()
  readonly #standing: Promise<Standing>
  #memoryBytes: number
  #client: string | undefined
  #runsLeft = runsMax
  /** Before this time, no isolate is expected to be ready. */
  #notReadyUntil = 0
  #isSpent = false
  #crash: LazaretError | undefined
  #run: IsolateRun | undefined
  #printed = ''

  constructor(parts: IsolateWorkerParts) {
    this.#parts = parts
    this.#memoryBytes = parts.memoryBytes
    this.lost = this.#loss.promise
    this.#standing = this.#stand()
    this.#standing.catch(() => undefined)
  }

  async ready(): Promise<void> {
    await this.#standing
  }

  fits(client: string): 'best' | 'well' | 'never' {
    if (this.#isSpent || this.#runsLeft <= 0) return 'never'
    if (this.#client === undefined) return 'well'
    if (this.#client !== client) return 'never'
    return this.#parts.clock.now() >= this.#notReadyUntil ? 'best' : 'well'
  }

  get crash(): LazaretError | undefined {
    return this.#crash
  }

  async run(job: IsolateJob): Promise<Exit> {
    const { built, facts, on, program } = await this.#standing
    const { cell, ground } = built
    const { spec, limits } = job
    this.#client = spec.client ?? ''
    this.#runsLeft -= 1
    const stream = cell.channel
    if (stream === null) throw new LazaretError('WORKER_LOST', { detail: 'The worker has no channel.' })
    // May throw a refusal: then nothing has run.
    const request = writeIsolateRequest(job)
    this.#allow(limits.memoryBytes, { built, on, program })
    cell.hold(true)
    // Sent first, so that the worker wakes up while the host prepares to receive its messages. A part of an answer to the
    // last program may still wait: the request must not overtake it.
    GuestWriter.of(stream, this.#parts.clock).write(frameMessage(JSON.stringify(request)))
    const oomKills = () => ground.cgroup?.oomKills() ?? 0
    const run = new IsolateRun({
      spec,
      handles: job.handles,
      limits,
      outputRoom: job.outputRoom,
      clock: this.#parts.clock,
      stream,
      oomKills,
    })
    this.#run = run
    try {
      const evidence = await run.ended
      return { ...evidence, ...facts, heldBy: heldByIsolate(limits, ground.limitGround) }
    } finally {
      this.#run = undefined
      this.#isSpent ||= run.isWorkerSpent
      this.#notReadyUntil = run.ready > 0 ? 0 : this.#parts.clock.now() + refillMs
      if (run.hasCrashed) this.#crash = crashed('while it ran a program')
      cell.hold(false)
    }
  }

  async end(): Promise<void> {
    this.#isSpent = true
    this.#ending.abort()
    const standing = await this.#standing.catch(() => undefined)
    // The caller awaits this, so the host's process must not exit before.
    standing?.built.cell.hold(true)
    await standing?.built.clean().catch(() => undefined)
  }

  onSpawned(): void {}

  /** Guests cannot write to these streams. The engine prints there why it aborts. */
  onOutput(_stream: GuestStream, bytes: Buffer): void {
    if (this.#printed.length < printedMax) this.#printed += bytes.toString('latin1')
  }

  onExceeded(): void {
    this.#isSpent = true
    this.#run?.exceed()
  }

  onUsage(): void {}

  onExit(report: ProcessReport): void {
    this.#lose(report)
  }

  onLost(): void {
    this.#lose(null)
  }

  #lose(report: ProcessReport | null): void {
    const wasSpent = this.#isSpent
    this.#isSpent = true
    if (this.#run !== undefined) this.#run.loseWorker(report, this.#printed)
    else if (!wasSpent) this.#loss.resolve(crashed('while it waited'))
  }

  #stand(): Promise<Standing> {
    const { wall } = this.#parts
    return behindBestWall(wall, (place) => this.#build(place))
  }

  async #build(place: Place): Promise<Standing> {
    const { wall, clock, toolchains, libraries } = this.#parts
    const { machine } = wall
    const limits = workerLimits(this.#memoryBytes)
    const program = prepareIsolates({ toolchains, packages: {}, place })
    const shape = { binds: program.binds, network: 'none', place, diskBytes: limits.diskBytes } as const
    const built = await buildCell({ shape, limits, hasChannel: true }, machine, clock)
    const on = { machine, ground: built.ground, place }
    const park: IsolatesPark = {
      park: 'isolates',
      memoryMiB: Math.floor(this.#parts.memoryBytes / MiB),
      libraries,
    }
    const spec = { ...parkSpec(program, holdParked(program, limits, on), on), channel: 'cell' as const }
    const startGuest = () => new WaitingGuest(built, spec, { park, clock })
    const guest = await standWaiting(built, startGuest, { clock, signal: this.#ending.signal })
    const cellFacts = await built.cell.ready
    const { landlock_abi: abi = '0', ...observed } = cellFacts
    const layers = namesOfStanding(built.plan.layers, { landlock_abi: abi })
    const facts = { observed: { ...observed, ...guest.observed }, layers }
    const onFailure = () => this.#lose(null)
    if (!guest.reassign({ listener: this, onFailure })) this.#lose(null)
    return { built, guest, program, on, facts }
  }

  /** Adjusts the cell's memory limit to that of the program. */
  #allow(memoryBytes: number, { built, on, program }: Pick<Standing, 'built' | 'on' | 'program'>): void {
    if (memoryBytes === this.#memoryBytes) return
    this.#memoryBytes = memoryBytes
    const { cgroup } = holdLimits(program, workerLimits(memoryBytes), on)
    if (cgroup !== null) built.ground.cgroup?.limit(cgroup)
  }
}

const crashed = (when: string): LazaretError =>
  new LazaretError('WORKER_LOST', { detail: `A worker for isolates ended unexpectedly ${when}.` })

/** The limits of the cell. The host enforces the time of each program. */
function workerLimits(memoryBytes: number): Limits {
  return { ...defaultLimits, memoryBytes: ownBytes + Math.ceil(memoryBytes * heapFactor), diskBytes: MiB }
}

function writeIsolateRequest({ spec, limits, mode }: IsolateJob): IsolateRequest {
  const language = spec.language === 'typescript' ? 'typescript' : 'javascript'
  return {
    ...writeGuestRequest(language, spec, limits),
    isolate: { mode, memoryMiB: Math.max(8, Math.floor(limits.memoryBytes / MiB)), wallMs: limits.wallMs },
  }
}
