/**
 * One process of a space, from its start to its result: the command of an `exec()`, a background process, a terminal.
 * Its end is known only from the kernel and the space's pid 1.
 */
import { constants } from 'node:os'
import type { Duplex } from 'node:stream'

import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Reservation } from '../../core/host-account.ts'
import type { Limits } from '../../core/limits.ts'
import type { RunHandles } from '../../core/request.ts'
import type { StartKind, Usage } from '../../core/receipt.ts'
import type { StepFailure } from '../../jail/cell/cell-reports.ts'
import type {
  GuestStream,
  ProcessListener,
  ProcessReport,
  SpawnSpec,
  TerminalSize,
} from '../../jail/cell/guest-process.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import { heldBy, limitMechanisms } from '../../jail/limits/plan-limits.ts'
import { namesOfStanding } from '../../jail/layers/layers.ts'
import type { Space } from '../../jail/cell/sandbox-cell.ts'
import { Blocks } from '../../result/blocks.ts'
import { Capture } from '../../result/capture.ts'
import type { OutputLog } from '../../result/capture.ts'
import { nothingKnown } from '../../result/exit.ts'
import type { Exceeded, Exit, KillReason } from '../../result/exit.ts'
import { settle } from '../../result/settle.ts'
import type { Outcome } from '../../core/outcome.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { readStatus, requireConfined } from '../../runtimes/work/observed.ts'
import { whenAborted } from '../../runtimes/work/patience.ts'
import { ProcessLife } from '../../runtimes/work/process-life.ts'
import { exitCodeOf, exitedAsKilled, unreportedEnd } from './command-end.ts'
import type { CommandEnd, CommandEvidence } from './command-end.ts'
import { stateBytesMax } from '../sessions/shell-state.ts'
import { countIn, touchedLimits } from './touched.ts'
import type { SpaceCounts } from './touched.ts'

export interface CommandParts {
  readonly space: Space
  readonly clock: Clock
  readonly limits: Limits
  readonly spec: SpawnSpec
  /** Whether only `onOutput` gets its output, without a budget. Default false. */
  readonly isEndless?: boolean
}

/** Options of a command. A shell that is started ahead gets them when its command begins. */
export interface CommandWishes {
  readonly onOutput?: RunHandles['onOutput']
  /** Gets its output, too. */
  readonly log?: OutputLog | undefined
  /** Counts the output that is kept for its result. */
  readonly outputRoom?: Reservation | undefined
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** How its shell was started. Default `cold`. */
  readonly start?: StartKind
}

interface Settled extends Pick<CommandEnd, 'outcome' | 'usage'> {
  readonly counts: SpaceCounts
}

/**
 * How long pid 1 may take to kill a command and report its end. A process tree that resists takes a quarter of that. It
 * is two timers, because between them a host that was busy reads reports that have already arrived.
 */
const killReportMs = [900, 100] as const

export class Command implements ProcessListener {
  /** Resolves when foreign code may run; rejects when it could not be started. */
  readonly started: Promise<void>
  /** Resolves with its end; rejects if it could not be started, or was lost with its sandbox. */
  readonly ended: Promise<CommandEnd>
  /** The host's end of its own channel, if its spec has one. */
  readonly channel: Duplex | null
  readonly #parts: CommandParts
  readonly #id: number
  readonly #life = new ProcessLife<CommandEnd>()
  readonly #state = new Blocks()
  #capture = new Capture(undefined, noDelivery)
  #signal: AbortSignal | undefined
  #stateBytes = 0
  #beganAt: number
  #killReason: KillReason | null = null
  #timeoutMs = 0
  /** When its shell started, and when it began. */
  readonly #countsAtStart: SpaceCounts
  #countsBefore: SpaceCounts
  #pid = 0
  #start: StartKind = 'cold'
  #facts: Readonly<Record<string, string>> = {}
  #status: Readonly<Record<string, string>> = {}

  constructor(parts: CommandParts) {
    this.#parts = parts
    this.started = this.#life.started
    this.ended = this.#life.ended
    this.#beganAt = parts.clock.now()
    this.#countsAtStart = this.#countsBefore = countIn(parts.space)
    const { cell } = parts.space
    const { outputBytes } = parts.spec
    const spec = {
      ...parts.spec,
      outputBytes: parts.isEndless === true ? Number.MAX_SAFE_INTEGER : outputBytes,
    }
    this.#id = cell.spawn(spec, this, (failure) => this.#failStep(failure))
    this.channel = cell.channelOf(this.#id)
    cell.ready.then(
      (facts) => (this.#facts = facts),
      () => undefined,
    )
  }

  /** Its number in its space; 0 until it has started. */
  get pid(): number {
    return this.#pid
  }

  get isOver(): boolean {
    return this.#life.isOver
  }

  /** Called when the command begins, which starts its time. */
  begin({ onOutput, log, outputRoom, timeoutMs, signal, start = 'cold' }: CommandWishes): void {
    const { clock, space } = this.#parts
    this.#beganAt = clock.now()
    this.#start = start
    if (start === 'parked') this.#countsBefore = countIn(this.#parts.space)
    const listener = {
      onFull: () => space.cell.holdOutput(this.#id, true),
      onEmpty: () => space.cell.holdOutput(this.#id, false),
      onFailure: (error: unknown) => this.#fail(error),
    }
    this.#capture = new Capture(onOutput, listener, {
      keeps: this.#parts.isEndless !== true,
      log,
      room: outputRoom,
    })
    this.#signal = signal
    if (timeoutMs !== undefined) {
      this.#timeoutMs = timeoutMs
      this.#life.until(clock.after(timeoutMs, () => this.#kill('wall')))
    }
    if (signal !== undefined) this.#life.until(whenAborted(signal, () => this.#kill('cancelled')))
  }

  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void> {
    return this.#parts.space.cell.writeStdin(this.#id, bytes)
  }

  endStdin(): void {
    this.#parts.space.cell.endStdin(this.#id)
  }

  resize(size: TerminalSize): void {
    this.#parts.space.cell.resize(this.#id, size)
  }

  signal(name: NodeJS.Signals): void {
    if (!this.#life.isOver) this.#parts.space.cell.signal(this.#id, constants.signals[name])
  }

  /** Ends it with everything that it has started. */
  kill(): void {
    if (!this.#life.isOver) this.#parts.space.cell.killTree(this.#id)
  }

  onSpawned(status: string, pid: number): void {
    try {
      requireConfined(this.#parts.space.plan.promises, status)
    } catch (error) {
      this.kill()
      this.#fail(error)
      return
    }
    this.#pid = pid
    this.#status = readStatus(status)
    this.#life.start()
  }

  onOutput(stream: GuestStream, bytes: Buffer): void {
    if (this.#life.isOver) return
    if (stream !== 'state') this.#capture.add(stream, bytes, this.#elapsed())
    // The state of a background process ends with it.
    else if (this.#parts.isEndless !== true && (this.#stateBytes += bytes.length) <= stateBytesMax)
      this.#state.add(bytes)
  }

  /** Without a cgroup the watchdog ends everything in the space. */
  onExceeded(what: Exceeded): void {
    if (what !== 'stdout' && what !== 'stderr' && what !== 'wall') this.#killReason ??= what
  }

  onUsage(): void {}

  onLost(): void {
    this.#fail(new LazaretError('SANDBOX_GONE'))
  }

  onExit(report: ProcessReport): void {
    if (this.#killReason !== null) this.#life.start()
    this.#life.failStart(new LazaretError('CELL_FAILED', { detail: 'The command ended before it started.' }))
    if (this.#life.isOver) return
    this.#finish(report)
  }

  #finish(report: ProcessReport): void {
    this.#life.stop()
    const usage: Usage = {
      wallMs: this.#elapsed(),
      cpuMs: report.cpuMs,
      memoryPeakBytes: report.residentPeakBytes,
      queuedMs: 0,
      outputBytes: this.#capture.bytes,
    }
    const counts = countIn(this.#parts.space)
    const outcome = this.#settle(report, counts)
    this.#describe(report, { outcome, usage, counts }).then(
      (end) => this.#life.end(end),
      (error: unknown) => this.#life.fail(error),
    )
  }

  async #describe(report: ProcessReport, { outcome, usage, counts }: Settled): Promise<CommandEnd> {
    await this.#capture.delivered(this.#signal)
    const dropped = (['stdout', 'stderr'] as const).filter((stream) => report.droppedBytes[stream] > 0)
    const { stdout, stderr } = await loopTurns.perform(this.#capture.texts(dropped))
    return {
      outcome,
      exitCode: exitCodeOf(outcome, report),
      stdout,
      stderr,
      touched: touchedLimits(this.#parts.limits, {
        before: this.#countsBefore,
        after: counts,
        diskFull: report.diskFull,
        outputCut: dropped.length > 0,
        texts: [stderr, stdout],
      }),
      truncated: [...new Set([...dropped, ...this.#capture.cut])],
      usage,
      state: this.#state.join().toString('latin1'),
      wasKilled: outcome.kind === 'killed',
      evidence: this.#evidence(),
    }
  }

  #evidence(): CommandEvidence {
    const { limits, space } = this.#parts
    const { landlock_abi: abi = '0', ...facts } = this.#facts
    return {
      start: this.#start,
      layers: namesOfStanding(space.plan.layers, { landlock_abi: abi }),
      observed: { ...facts, ...this.#status },
      heldBy: heldBy(limits, space.ground.limitGround),
    }
  }

  #settle(report: ProcessReport, counts: SpaceCounts): Outcome {
    const { limits, space, spec } = this.#parts
    const failed = report.end.by !== 'exit' || report.end.exitCode !== 0
    const oomKills = failed ? counts.oomKills - this.#countsAtStart.oomKills : 0
    const exit: Exit = {
      ...nothingKnown,
      end: report.end,
      killReason: this.#killReason,
      // The counter is for the whole space, so it is evidence only for a command that was killed itself.
      oomKills: report.end.by === 'signal' || exitedAsKilled(report) ? oomKills : 0,
      dataLimited: limitMechanisms(space.ground.limitGround).memoryBytes !== 'cgroup',
      memoryPeakBytes: Math.max(report.residentPeakBytes, report.watchdogPeakBytes),
    }
    const openFilesMax = spec.watched.filesMax ?? limits.openFilesMax
    return settle({ ...limits, openFilesMax, wallMs: this.#timeoutMs, cpuMs: null }, exit)
  }

  #kill(reason: KillReason): void {
    if (this.#life.isOver || this.#killReason !== null) return
    this.#killReason = reason
    // Output buffered for a slow reader must not delay the report of the end.
    this.#parts.space.cell.holdOutput(this.#id, false)
    this.kill()
    const { clock } = this.#parts
    const [most, rest] = killReportMs
    const readOnce = () => this.#life.until(clock.after(rest, () => this.#endSpace()))
    this.#life.until(clock.after(most, readOnce))
  }

  /** Pid 1 of the space does not react, so the command ends now, together with its space. */
  #endSpace(): void {
    this.#life.start()
    this.#finish(unreportedEnd)
    this.#parts.space.cell.end()
  }

  #failStep(failure: StepFailure): void {
    this.#fail(explainFailure(failure, this.#parts.space.plan))
  }

  #fail(error: unknown): void {
    if (this.#life.isOver) return
    this.kill()
    this.#life.fail(error)
  }

  #elapsed(): number {
    return this.#parts.clock.now() - this.#beganAt
  }
}

const noDelivery = { onFull: () => undefined, onEmpty: () => undefined, onFailure: () => undefined }
