/**
 * A run while it runs: listens to the cell, enforces the time limits, and turns events into evidence. It ends with the
 * main process or when the host ends it; it does not wait for other processes.
 */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Cell } from '../../jail/cell/cell.ts'
import { isStepFailure } from '../../jail/cell/cell-reports.ts'
import type { CellUsage, ProcessListener, ProcessReport } from '../../jail/cell/guest-process.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import type { CellPlan } from '../../jail/plan/plan.ts'
import { Capture } from '../../result/capture.ts'
import type { Exceeded, Exit, KillReason } from '../../result/exit.ts'
import { Channel } from '../channel/channel.ts'
import { countedCpuMs } from './evidence.ts'
import type { Counted } from './evidence.ts'
import { openCalls } from '../functions/function-calls.ts'
import type { Job } from './guest-start.ts'
import { HostBudget } from '../channel/host-budget.ts'
import { isTold, tellCaller } from '../channel/tell-caller.ts'
import { isDead } from './observed.ts'
import { cellEndMs, lastWordsBeforeFilesMs, lastWordsMs, whenAborted } from './patience.ts'
import { ProcessLife } from './process-life.ts'
import { RunRecord } from './run-record.ts'

export interface RunParts extends Counted, Job {
  readonly clock: Clock
  readonly plan: CellPlan
  readonly held: LimitPlan
}

const cpuCheckMs = 10
/** How long after the cell's timer the host's timer fires. */
const wallGraceMs = 10

export class Run implements ProcessListener {
  /** Resolves when the guest executes; rejects when the cell could not be built. */
  readonly started: Promise<void>
  /** Resolves with the evidence; rejects when the cell was lost through no fault of the guest. */
  readonly ended: Promise<Exit>

  readonly #cell: Cell
  readonly #parts: RunParts
  readonly #capture: Capture
  readonly #channel: Channel | null
  readonly #budget: HostBudget
  readonly #record: RunRecord
  readonly #life = new ProcessLife<Exit>()
  #startedAt: number | undefined
  #killReason: KillReason | null = null
  #report: ProcessReport | null = null
  #isEnding = false // no guest is alive, or will be in a moment
  #isDone = false // says the guest: nothing follows on its channel
  #finishMain: ((exitCode: number) => void) | undefined

  constructor(cell: Cell, parts: RunParts) {
    this.#cell = cell
    this.#parts = parts
    this.started = this.#life.started
    this.ended = this.#life.ended
    const { onOutput, keepOutput: keeps, ...told } = parts.handles
    const delivery = {
      onFull: () => this.#isEnding || this.#pause(isTold(told)),
      onEmpty: () => this.#resume(),
      onFailure: (error: unknown) => this.fail(error), // the caller's own, so it is the caller's to see
    }
    this.#capture = new Capture(onOutput, delivery, { keeps })
    this.#budget = new HostBudget(parts.clock, parts.limits.hostMs)
    this.#budget.onSpent = () => {
      this.#channel?.close()
      this.#kill('host')
    }
    const calls = openCalls(cell.channel, { ...parts, budget: this.#budget })
    this.#life.until(() => calls?.end())
    const listener = {
      budget: this.#budget,
      elapsed: () => this.#elapsed(),
      onFlood: () => this.#kill('output'),
      onEnd: (exitCode: number) => this.#takeEnd(exitCode),
      calls,
      ...tellCaller(this.#capture, told),
    }
    this.#channel = cell.channel === null ? null : new Channel(cell.channel, parts.limits, listener)
    const record = new RunRecord({
      plan: parts.plan,
      counted: parts,
      capture: this.#capture,
      channel: this.#channel,
    })
    this.#record = record
    cell.ready.then(
      (facts) => record.takeFacts(facts),
      (error: unknown) => this.#failToBuild(error),
    )
    void cell.gone.then(() => this.#finish())
    const { signal } = parts.handles
    if (signal !== undefined) this.#life.until(whenAborted(signal, () => this.#kill('cancelled')))
  }

  /** Whether guest code may have run. */
  get hasBegun(): boolean {
    return this.#startedAt !== undefined
  }

  /** Whether it was cancelled before it began: then nothing may be started. */
  get isCancelled(): boolean {
    return this.#killReason === 'cancelled'
  }

  /** `finish` ends the main process as if it had exited; it is called when the guest says that it is done. */
  onMain(finish: (exitCode: number) => void): void {
    this.#finishMain = finish
  }

  onSpawned(status: string): void {
    if (this.#life.isOver) return
    this.#startedAt = this.#parts.clock.now()
    // A deadline of a few milliseconds ends it before it is confined: nothing of it has run, and its end follows.
    if (this.#killReason !== null && isDead(status)) return
    try {
      this.#record.takeStatus(status)
    } catch (error) {
      this.fail(error)
      return
    }
    const { clock, limits, held } = this.#parts
    // The cell's own pid 1 holds the limit; this is for a pid 1 that cannot.
    this.#life.until(clock.after(limits.wallMs + wallGraceMs, () => this.#kill('wall')))
    if (held.by.cpuMs === 'cgroup') this.#life.until(clock.every(cpuCheckMs, () => this.#checkCpu()))
    this.#life.start()
  }

  onOutput(...[stream, bytes]: Parameters<ProcessListener['onOutput']>): void {
    if (this.#life.isOver) return
    if (stream !== 'state') this.#capture.add(stream, bytes, this.#elapsed())
  }

  /** The cell has killed the guests already; their end follows. */
  onExceeded(what: Exceeded): void {
    if (this.#life.isOver) return
    const isStream = what === 'stdout' || what === 'stderr'
    if (isStream) this.#record.takeCut(what)
    if (this.#killReason !== null) return
    this.#killReason = isStream ? 'output' : what
    this.#expectEnd()
  }

  onUsage(usage: CellUsage): void {
    this.#record.takeUsage(usage)
  }

  onExit(report: ProcessReport): void {
    if (this.#life.isOver) return
    if (this.#startedAt === undefined && this.#killReason === null) {
      this.fail(new LazaretError('WORKER_LOST', { detail: 'The guest ended before its run began.' }))
      return
    }
    this.#report = report
    this.#life.cancel()
    this.#readAll()
    // Our timer may have come late because this process was busy: the cell's clock knows better.
    if (this.#killReason === 'wall' && report.elapsedMs < this.#parts.limits.wallMs) this.#killReason = null
    // In a later turn, because the report that the cell is built may have arrived together with this one.
    if (this.#channel === null || this.#isDone) queueMicrotask(() => this.#finish())
    else void this.#channel.hearOut(this.#parts.clock).then(() => this.#finish())
  }

  /** A cell that the host ended before it was built did not fail. */
  #failToBuild(error: unknown): void {
    if (this.#killReason !== null) return
    this.fail(isStepFailure(error) ? explainFailure(error, this.#parts.plan) : error)
  }

  /** Our fault or the machine's: the run has no outcome. */
  fail(error: unknown): void {
    this.#life.fail(error)
    this.#cell.end()
  }

  /** Resolves when the caller has taken all output; rejects with what its `onOutput` threw. */
  delivered(): Promise<void> {
    return this.#capture.delivered(this.#parts.handles.signal)
  }

  #pause(isChannelToo: boolean): void {
    this.#cell.pause()
    if (isChannelToo) this.#channel?.pause(true)
  }

  #resume(): void {
    this.#cell.resume()
    this.#channel?.pause(false)
  }

  /** No guest writes any more: what is under way is little, and the news of the end is behind it. */
  #readAll(): void {
    this.#isEnding = true
    this.#channel?.endCalls()
    this.#resume()
  }

  /** Its word is enough: it could have exited with this code itself. Whether a limit was passed is not for it to say. */
  #takeEnd(exitCode: number): void {
    if (this.#life.isOver || this.#report !== null || this.#killReason !== null) return
    this.#isDone = true
    this.#finishMain?.(exitCode)
  }

  #elapsed(): number {
    if (this.#startedAt === undefined) return 0
    // In whole microseconds; smaller digits of a difference of clock readings are only rounding errors.
    return Math.round((this.#parts.clock.now() - this.#startedAt) * 1000) / 1000
  }

  #checkCpu(): void {
    const { limits } = this.#parts
    try {
      if ((countedCpuMs(this.#parts) ?? 0) > (limits.cpuMs ?? Number.MAX_VALUE)) this.#kill('cpu')
    } catch (cause) {
      this.fail(
        new LazaretError('WORKER_LOST', {
          detail: 'The processor time of the run could not be read.',
          cause,
        }),
      )
    }
  }

  /** Guests first, so that what they printed still arrives; then, if that takes too long, the cell under them. */
  #kill(reason: KillReason): void {
    if (this.#killReason !== null || this.#report !== null || this.#life.isOver) return
    this.#killReason = reason
    this.#life.start()
    if (this.#startedAt === undefined) {
      this.#cell.end()
      return
    }
    void this.#cell.killGuests()
    this.#expectEnd()
  }

  #expectEnd(): void {
    const { clock, spec } = this.#parts
    this.#readAll()
    const wordsMs = spec.collect === undefined ? lastWordsMs : lastWordsBeforeFilesMs
    this.#life.until(clock.after(wordsMs, () => this.#cell.end()))
    this.#life.until(clock.after(wordsMs + cellEndMs, () => this.#finish()))
  }

  #finish(): void {
    if (this.#life.isOver) return
    this.#life.stop()
    this.#budget.end()
    const least = this.#killReason === 'wall' ? this.#parts.limits.wallMs : 0 // a busy host begins to count late
    let exit: Exit
    try {
      exit = this.#record.conclude(this.#report, this.#killReason, Math.max(least, this.#elapsed()))
    } catch (cause) {
      this.fail(
        new LazaretError('WORKER_LOST', { detail: 'The evidence of the run could not be read.', cause }),
      )
      return
    }
    if (this.#report === null && exit.killReason === null && exit.oomKills === 0) {
      this.fail(
        new LazaretError(this.#startedAt === undefined ? 'CELL_FAILED' : 'WORKER_LOST', {
          detail: 'The cell ended by itself.',
        }),
      )
      return
    }
    this.#life.end(exit)
  }
}
