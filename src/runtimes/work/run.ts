/**
 * An active run: listens to the cell, enforces the time limits, and turns events into evidence. It ends with the main process
 * or when the host ends it, and does not wait for other processes.
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
import type { Stream } from '../../result/capture.ts'
import type { Exceeded, Evidence, KillReason } from '../../result/exit.ts'
import { Channel } from '../channel/channel.ts'
import { countedCpuMs } from './evidence.ts'
import type { Counted } from './evidence.ts'
import { openCalls } from '../functions/function-calls.ts'
import type { Job } from './guest-start.ts'
import { HostBudget } from '../channel/host-budget.ts'
import { loopTurns } from '../channel/loop-turns.ts'
import { hasListeners, tellCaller } from '../channel/tell-caller.ts'
import { isDead } from './observed.ts'
import { cellEndMs, lastOutputBeforeFilesMs, lastOutputMs, whenAborted } from './patience.ts'
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
  readonly ended: Promise<Evidence>

  readonly #cell: Cell
  readonly #parts: RunParts
  readonly #capture: Capture
  readonly #channel: Channel | null
  readonly #budget: HostBudget
  readonly #record: RunRecord
  readonly #life = new ProcessLife<Evidence>()
  #startedAt: number | undefined
  #killReason: KillReason | null = null
  #report: ProcessReport | null = null
  #isEnding = false // all guests have ended or are about to
  #isDone = false // the guest has reported its end: nothing follows on its channel
  #finishMain: ((exitCode: number) => void) | undefined

  constructor(cell: Cell, parts: RunParts) {
    this.#cell = cell
    this.#parts = parts
    this.started = this.#life.started
    this.ended = this.#life.ended
    const { onOutput, keepOutput: keeps, ...listeners } = parts.handles
    const delivery = {
      onFull: () => this.#isEnding || this.#pause(hasListeners(listeners)),
      onEmpty: () => this.#resume(),
      onFailure: (error: unknown) => this.fail(error), // thrown by the caller's own function
    }
    this.#capture = new Capture(onOutput, delivery, { keeps, room: parts.outputRoom })
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
      room: parts.outputRoom,
      onFlood: () => this.#kill('output'),
      onEnd: (exitCode: number) => this.#takeEnd(exitCode),
      calls,
      ...tellCaller(this.#capture, listeners),
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

  /** Whether it was cancelled before it began. Then nothing may be started. */
  get isCancelled(): boolean {
    return this.#killReason === 'cancelled'
  }

  /** `finish` ends the main process as if it had exited. It is called when the guest reports its end. */
  onMain(finish: (exitCode: number) => void): void {
    this.#finishMain = finish
  }

  onSpawned(status: string): void {
    if (this.#life.isOver) return
    this.#startedAt = this.#parts.clock.now()
    // A deadline of a few milliseconds may end the guest before it is confined. None of its code has run; its end follows.
    if (this.#killReason !== null && isDead(status)) return
    try {
      this.#record.takeStatus(status)
    } catch (error) {
      this.fail(error)
      return
    }
    const { clock, limits, held } = this.#parts
    // The cell's pid 1 enforces the limit. This timer is for the case that it fails to.
    this.#life.until(clock.after(limits.wallMs + wallGraceMs, () => this.#kill('wall')))
    if (held.by.cpuMs === 'cgroup') this.#life.until(clock.every(cpuCheckMs, () => this.#checkCpu()))
    this.#life.start()
  }

  onOutput(...[stream, bytes]: Parameters<ProcessListener['onOutput']>): void {
    if (this.#life.isOver) return
    if (stream !== 'state') this.#capture.add(stream, bytes, this.#elapsed())
  }

  /** The cell has already killed the guests; their end follows. */
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
    // This process may have been busy, so its timer is not exact. The cell's measurement decides.
    if (this.#killReason === 'wall' && report.elapsedMs < this.#parts.limits.wallMs) this.#killReason = null
    // In a microtask, because the report that the cell is built may have arrived together with this one.
    if (this.#channel === null || this.#isDone) queueMicrotask(() => this.#finish())
    else void this.#channel.drain(this.#parts.clock).then(() => this.#finish())
  }

  /** Ignores the error if the host ended the cell before it was built. */
  #failToBuild(error: unknown): void {
    if (this.#killReason !== null) return
    this.fail(isStepFailure(error) ? explainFailure(error, this.#parts.plan) : error)
  }

  /** The run fails through no fault of the guest, so it has no outcome. */
  fail(error: unknown): void {
    this.#life.fail(error)
    this.#cell.end()
  }

  /** Resolves with the output when the caller has taken it; rejects with the error of its `onOutput`. */
  async output(): Promise<Record<Stream, string>> {
    await this.#capture.delivered(this.#parts.handles.signal)
    return loopTurns.perform(this.#capture.texts(this.#record.cut))
  }

  #pause(isChannelToo: boolean): void {
    this.#cell.pause()
    if (isChannelToo) this.#channel?.pause(true)
  }

  #resume(): void {
    this.#cell.resume()
    this.#channel?.pause(false)
  }

  /** No guest writes any more. Reads the little that remains, because the report of the end follows it. */
  #readAll(): void {
    this.#isEnding = true
    this.#channel?.endCalls()
    this.#resume()
  }

  /** The guest's claim is accepted, because it could also exit with this code. It cannot hide that it exceeded a limit. */
  #takeEnd(exitCode: number): void {
    if (this.#life.isOver || this.#report !== null || this.#killReason !== null) return
    this.#isDone = true
    this.#finishMain?.(exitCode)
  }

  #elapsed(): number {
    if (this.#startedAt === undefined) return 0
    // Rounds to microseconds. Further digits are only rounding errors.
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

  /** Kills the guests first, so that their last output still arrives. If that takes too long, ends the cell. */
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
    const outputMs = spec.collect === undefined ? lastOutputMs : lastOutputBeforeFilesMs
    this.#life.until(clock.after(outputMs, () => this.#cell.end()))
    this.#life.until(clock.after(outputMs + cellEndMs, () => this.#finish()))
  }

  #finish(): void {
    if (this.#life.isOver) return
    this.#life.stop()
    this.#budget.end()
    const least = this.#killReason === 'wall' ? this.#parts.limits.wallMs : 0 // a busy host starts its clock late
    let exit: Evidence
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
