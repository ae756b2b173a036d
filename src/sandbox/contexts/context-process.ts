/**
 * The process of a code context: a harness in its own space, which gets one piece of code after another and reports
 * their results. Its reports affect nothing else.
 */
import { constants } from 'node:os'
import { PassThrough } from 'node:stream'
import type { Duplex } from 'node:stream'

import { endOnce } from '../../core/endings.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { Exceeded } from '../../result/exit.ts'
import type { StepFailure } from '../../jail/cell/cell-reports.ts'
import type { GuestStream, ProcessListener, ProcessReport } from '../../jail/cell/guest-process.ts'
import { explainStart } from '../explain-start.ts'
import { namesOfStanding } from '../../jail/layers/layers.ts'
import { heldBy } from '../../jail/limits/plan-limits.ts'
import { Channel } from '../../runtimes/channel/channel.ts'
import { frameMessage } from '../../runtimes/channel/message-frame.ts'
import { readStatus, requireConfined } from '../../runtimes/work/observed.ts'
import { withPatience } from '../../runtimes/work/patience.ts'
import type { Stream } from '../../result/capture.ts'
import type { CommandEvidence } from '../commands/command-end.ts'
import type { Spaces } from '../spaces.ts'
import type { ContextProgram } from './context-program.ts'
import { ContextSpace } from './context-space.ts'
import type { EntryListener, ProcessLoss } from './entry-listener.ts'
import { refusedByStep } from './fork-obstacles.ts'

/** The stream of a process that has ended. */
const closed = new PassThrough().destroy()

/** How much may be printed between two pieces of code before the process has to wait. */
const earlyBytesMax = 1024 * 1024
/** How long a process that is ready to fork may take to do so. */
const forkMs = 5000
/** How long a process may take to end while others of its space continue. */
const endMs = 2000

export interface ContextProcessParts {
  readonly spaces: Spaces
  readonly program: ContextProgram
  readonly limits: Limits
  readonly env: Readonly<Record<string, string>>
}

export class ContextProcess implements ProcessListener {
  readonly #parts: ContextProcessParts
  readonly #shared: ContextSpace
  readonly #id: number
  readonly #spawned = Promise.withResolvers<void>()
  readonly #end = endOnce(() => this.#leave())
  /** Resolves when the process has ended. */
  readonly #over = Promise.withResolvers<void>()
  readonly #early: { readonly stream: Stream; readonly bytes: Buffer }[] = []
  #earlyBytes = 0
  #channel: Channel | undefined
  #stream: Duplex = closed
  #entry: EntryListener | null = null
  #exceeded: Exceeded | null = null
  /** The first message opens the context, so entries are numbered from 1. */
  #entries = 0
  /** The programs of earlier code count too, because its space counts all of them. */
  #oomKillsBefore = 0
  #loss: ProcessLoss | undefined
  readonly #isFork: boolean
  #status: Readonly<Record<string, string>> = {}
  #facts: Readonly<Record<string, string>> = {}

  private constructor(parts: ContextProcessParts, shared: ContextSpace, origin?: ContextProcess) {
    const { program, limits, env, spaces } = parts
    this.#parts = parts
    this.#shared = shared
    shared.enter(this)
    this.#spawned.promise.catch(() => undefined)
    const { space } = shared
    const { cell, plan } = space
    const spec = {
      ...spaces.commonSpec(space, { limits, runtimeDataBytes: program.dataBytes }),
      file: program.file,
      argv: program.argv,
      env: { ...program.defaults, ...env, ...program.env },
      folder: spaces.workspace,
      channel: 'own' as const,
      // Each piece of code has its own budget, which the host counts.
      outputBytes: Number.MAX_SAFE_INTEGER,
      ...(origin === undefined ? {} : { forkOf: origin.#id }),
    }
    this.#isFork = origin !== undefined
    const explain = (failure: StepFailure) =>
      this.#isFork ? refusedByStep(failure.errno) : explainStart(failure, plan)
    this.#id = cell.spawn(spec, this, (failure) => this.#fail(explain(failure)))
    cell.ready.then(
      (facts) => (this.#facts = facts),
      () => undefined,
    )
  }

  /** Resolves when it is confined. Throws JAIL_UNAVAILABLE, CELL_FAILED, with nothing left behind. */
  static async start(parts: ContextProcessParts): Promise<ContextProcess> {
    const shared = new ContextSpace(await parts.spaces.openContext(parts.limits))
    return new ContextProcess(parts, shared).#born()
  }

  /**
   * A second process with its state, in the same space; it has reported that it is ready to fork. Throws FORK_REFUSED with
   * nothing left behind of the fork; one that does not fork in time has been ended.
   */
  async fork(): Promise<ContextProcess> {
    const { clock } = this.#parts.spaces.parts
    this.#shared.hold(this, true)
    const fork = new ContextProcess(this.#parts, this.#shared, this)
    let over = Promise.resolve()
    const stop = clock.after(forkMs, () => {
      this.kill()
      over = withPatience(this.#over.promise, endMs, clock)
    })
    try {
      return await fork.#born()
    } finally {
      stop()
      // Otherwise the next code would begin in a process that is about to die.
      await over
      this.rest()
    }
  }

  async #born(): Promise<this> {
    try {
      await this.#spawned.promise
      return this
    } catch (error) {
      await this.end().catch(() => undefined)
      throw error
    }
  }

  /** The host's end of its channel. */
  get stream(): Duplex {
    return this.#stream
  }

  get isLost(): boolean {
    return this.#loss !== undefined
  }

  /** Its usage until now, as the kernel counts it; zeros if nothing counts. */
  get used(): { readonly cpuMs: number; readonly memoryPeakBytes: number } {
    const { cgroup } = this.#space.ground
    return { cpuMs: cgroup?.cpuMs() ?? 0, memoryPeakBytes: cgroup?.memoryPeakBytes() ?? 0 }
  }

  get evidence(): Omit<CommandEvidence, 'start'> {
    const { landlock_abi: abi = '0', ...facts } = this.#facts
    const { plan, ground } = this.#space
    return {
      layers: namesOfStanding(plan.layers, { landlock_abi: abi }),
      observed: { ...facts, ...this.#status },
      heldBy: heldBy(this.#parts.limits, ground.limitGround),
    }
  }

  /**
   * Gives the process a piece of code. Until `rest()`, `entry` gets its messages and output. Returns what collects
   * them.
   */
  begin(message: object, limits: Limits, entry: EntryListener): Channel {
    const stream = this.#stream
    this.#entry = entry
    this.#oomKillsBefore = this.#countOomKills()
    this.#shared.hold(this, true)
    if (!this.isLost) this.#space.cell.holdGuest(this.#id, false)
    for (const { stream: from, bytes } of this.#early.splice(0)) entry.onOutput(from, bytes)
    this.#earlyBytes = 0
    if (this.#channel === undefined) this.#channel = new Channel(stream, limits, entry)
    else this.#channel.next(limits, entry)
    stream.write(frameMessage(JSON.stringify({ ...message, entry: this.#entries++ })))
    this.#tellLoss()
    return this.#channel
  }

  /** Stops reading. Further messages and output wait, and so does the process. */
  rest(): void {
    this.#entry = null
    if (!this.isLost) this.#space.cell.holdGuest(this.#id, true)
    this.#shared.hold(this, false)
  }

  /** Leaves its messages and output unread for a while. */
  hold(isHeld: boolean): void {
    if (!this.isLost) this.#space.cell.holdGuest(this.#id, isHeld)
  }

  /** Interrupts it and everything that it has started, like Ctrl-C. A harness that cannot use the signal reads a message. */
  interrupt(): void {
    if (this.isLost) return
    this.#stream.write(frameMessage(JSON.stringify({ interrupt: this.#entries - 1 })))
    this.#space.cell.signal(this.#id, constants.signals.SIGINT)
  }

  /** Ends it with everything that it has started. */
  kill(): void {
    if (!this.isLost) this.#space.cell.killTree(this.#id)
  }

  /** Resolves when nothing of it is left. */
  end(): Promise<void> {
    this.#shared.hold(this, true)
    return this.#end()
  }

  /** Its space ends with the last process in it, or at once if this process does not end. */
  async #leave(): Promise<void> {
    this.kill()
    const over = withPatience(this.#over.promise, endMs, this.#parts.spaces.parts.clock)
    await this.#shared.leave(
      this,
      over.then(() => this.isLost || this.#space.cell.end()),
    )
  }

  get #space() {
    return this.#shared.space
  }

  onSpawned(status: string): void {
    try {
      requireConfined(this.#space.plan.promises, status)
    } catch (error) {
      this.#fail(error)
      return
    }
    this.#status = readStatus(status)
    this.#stream = this.#space.cell.channelOf(this.#id) ?? closed
    const { park } = this.#parts.program
    if (park !== undefined && !this.#isFork) this.#stream.write(frameMessage(JSON.stringify(park)))
    this.#spawned.resolve()
  }

  onOutput(stream: GuestStream, bytes: Buffer): void {
    if (stream === 'state') return
    if (this.#entry !== null) this.#entry.onOutput(stream, bytes)
    else if ((this.#earlyBytes += bytes.length) <= earlyBytesMax)
      this.#early.push({ stream, bytes: Buffer.from(bytes) })
  }

  /** Without a cgroup the watchdog ends everything in the space. */
  onExceeded(what: Exceeded): void {
    this.#exceeded ??= what
  }

  onUsage(): void {}

  onLost(): void {
    this.#lose(null)
  }

  onExit(report: ProcessReport): void {
    this.#lose(report)
  }

  #lose(report: ProcessReport | null): void {
    if (this.isLost) return
    this.#spawned.reject(new LazaretError('CELL_FAILED', { detail: 'The interpreter ended at once.' }))
    const oomKills = Math.max(0, this.#countOomKills() - this.#oomKillsBefore)
    this.#loss = { report, oomKills, exceeded: this.#exceeded }
    this.#over.resolve()
    this.#tellLoss()
  }

  #countOomKills(): number {
    try {
      return this.#space.ground.cgroup?.oomKills() ?? 0
    } catch {
      return 0 // the cgroup is gone, with its counts
    }
  }

  /** In a later turn, because the entry may not know its channel yet. */
  #tellLoss(): void {
    const loss = this.#loss
    if (loss !== undefined) queueMicrotask(() => this.#entry?.onLost(loss))
  }

  #fail(error: unknown): void {
    this.#spawned.reject(error)
    this.#lose(null)
  }
}
