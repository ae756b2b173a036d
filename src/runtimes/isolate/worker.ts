/**
 * A worker of isolates: a cell with one Node process, which makes a V8 isolate for each program. The isolate is the
 * first barrier. Behind it is a process that serves only one client, inside a cell.
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
  /** What programs may `require`, by name. */
  readonly libraries: Readonly<Record<string, LibraryPlace>>
  /** The heap of isolates that are made ahead. Programs that ask for another wait for theirs the longer. */
  readonly memoryBytes: number
}

/** What the worker takes beside the isolate of one program: Node, and isolates that wait. */
const ownBytes = 320 * MiB
/** What V8 allocates beside the heap that it counts. */
const heapFactor = 1.25
/** A worker is replaced after this number of programs, so that anything left in the process does not stay for long. */
const runsMax = 2000
/** After this time without a program, a worker has an isolate ready, even if it has not reported that. */
const refillMs = 5
/** More of what the engine prints is not read: it prints how it died. */
const lastWordsMax = 16 * 1024

interface Standing {
  readonly built: BuiltCell
  readonly guest: WaitingGuest
  readonly program: Program
  readonly on: GuestGround
  readonly facts: Pick<Exit, 'observed' | 'layers'>
}

export class IsolateWorker implements LastingWorker<IsolateJob, Exit>, ProcessListener {
  /** Resolves when it is lost. */
  readonly lost: Promise<unknown>
  readonly #parts: IsolateWorkerParts
  readonly #loss = Promise.withResolvers<unknown>()
  readonly #ending = new AbortController()
  readonly #standing: Promise<Standing>
  #memoryBytes: number
  #client: string | undefined
  #runsLeft = runsMax
  /** No isolate is ready before. */
  #restsUntil = 0
  #isSpent = false
  #crash: LazaretError | undefined
  #run: IsolateRun | undefined
  #lastWords = ''

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
    return this.#parts.clock.now() >= this.#restsUntil ? 'best' : 'well'
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
    // May refuse the job: then nothing has run.
    const request = writeIsolateRequest(job)
    this.#allow(limits.memoryBytes, { built, on, program })
    cell.hold(true)
    // First of all: while the worker wakes up, the rest is made ready for what it will say.
    stream.write(frameMessage(JSON.stringify(request)))
    const oomKills = () => ground.cgroup?.oomKills() ?? 0
    const run = new IsolateRun({
      spec,
      handles: job.handles,
      limits,
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
      this.#restsUntil = run.ready > 0 ? 0 : this.#parts.clock.now() + refillMs
      if (run.hasCrashed) this.#crash = crashed('while it ran a program')
      cell.hold(false)
    }
  }

  async end(): Promise<void> {
    this.#isSpent = true
    this.#ending.abort()
    const standing = await this.#standing.catch(() => undefined)
    // Somebody waits for this.
    standing?.built.cell.hold(true)
    await standing?.built.clean().catch(() => undefined)
  }

  onSpawned(): void {}

  /** Guests have no way to its streams: the engine says why it gives up. */
  onOutput(_stream: GuestStream, bytes: Buffer): void {
    if (this.#lastWords.length < lastWordsMax) this.#lastWords += bytes.toString('latin1')
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
    if (this.#run !== undefined) this.#run.loseWorker(report, this.#lastWords)
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

  /** What the cell allows follows what the program may have. */
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
