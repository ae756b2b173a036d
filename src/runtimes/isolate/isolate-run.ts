/**
 * One running program in an isolate: enforces its deadline, receives its worker's messages, and turns both into
 * evidence.
 */
import type { Duplex } from 'node:stream'

import type { Clock } from '../../core/clock.ts'
import type { LogEntry } from '../../core/output.ts'
import type { ProcessReport } from '../../jail/cell/guest-process.ts'
import { Capture } from '../../result/capture.ts'
import { nothingKnown } from '../../result/exit.ts'
import type { Exit, KillReason } from '../../result/exit.ts'
import { Channel } from '../channel/channel.ts'
import { tellCaller } from '../channel/tell-caller.ts'
import { openCalls } from '../functions/function-calls.ts'
import type { Job } from '../work/guest-start.ts'
import { HostBudget } from '../channel/host-budget.ts'
import { loopTurns } from '../channel/loop-turns.ts'
import { whenAborted } from '../work/patience.ts'

/** How long after the worker's deadline the host's deadline is. If the host's is reached, the worker is lost. */
const graceMs = 20
/** The worker's timer may fire slightly early by the host's clock. */
const earlyMs = 2

export interface IsolateRunParts extends Job {
  readonly clock: Clock
  readonly stream: Duplex
  /** OOM kills in the worker's cell since it was built. If there is one, the kernel killed the worker. 0 without cgroups. */
  readonly oomKills: () => number
}

/** The run's evidence, to which the worker adds facts about the cell. */
export type IsolateEvidence = Omit<Exit, 'observed' | 'layers' | 'heldBy'>

export class IsolateRun {
  /** Resolves with the evidence. `isWorkerSpent` says whether the worker must be ended. */
  readonly ended: Promise<IsolateEvidence>
  readonly #parts: IsolateRunParts
  readonly #end = Promise.withResolvers<IsolateEvidence>()
  readonly #channel: Channel
  readonly #capture: Capture
  readonly #budget: HostBudget
  readonly #startedAt: number
  readonly #cancels: (() => void)[] = []
  #used = { memoryPeakBytes: 0, cpuMs: 0 }
  #ready = 0
  #denied: string | undefined
  #isOver = false
  #isWorkerSpent = false
  #hasCrashed = false

  constructor(parts: IsolateRunParts) {
    const { clock, limits, handles, stream } = parts
    this.#parts = parts
    this.ended = this.#end.promise
    this.#startedAt = clock.now()
    const listener = {
      onFull: () => this.#channel.pause(true),
      onEmpty: () => this.#channel.pause(false),
      onFailure: (error: unknown) => this.#fail(error),
    }
    this.#capture = new Capture(handles.onOutput, listener, {
      keeps: handles.keepOutput,
      room: parts.outputRoom,
    })
    this.#budget = new HostBudget(clock, limits.hostMs)
    this.#budget.onSpent = () => this.#stop('host')
    const delivery = tellCaller(this.#capture, handles)
    this.#channel = new Channel(stream, limits, {
      budget: this.#budget,
      elapsed: () => this.#elapsed(),
      room: parts.outputRoom,
      onFlood: () => this.#stop('output'),
      onEnd: (exitCode) => this.#finish({ end: { by: 'exit', exitCode } }),
      ...delivery,
      onLog: (entry) => {
        delivery.onLog?.(entry)
        this.#print(entry)
      },
      onOther: (fields) => this.#takeOther(fields),
      calls: openCalls(stream, { limits, clock, budget: this.#budget, handles }),
    })
    this.#cancels.push(
      clock.after(limits.wallMs + graceMs, () => this.#stop('wall')),
      whenAborted(handles.signal, () => this.#stop('cancelled')),
    )
  }

  /** Whether the worker may be in any state, because the program in it did not end regularly. */
  get isWorkerSpent(): boolean {
    return this.#isWorkerSpent
  }

  /** How many isolates are ready for more programs, as reported by the worker. */
  get ready(): number {
    return this.#ready
  }

  /** Whether its worker ended unexpectedly, and its program is not to blame. */
  get hasCrashed(): boolean {
    return this.#hasCrashed
  }

  /** The worker's process has ended. `printed` is its output: only the engine can write it, not the guest. */
  loseWorker(report: ProcessReport | null, printed: string): void {
    if (this.#isOver) return
    this.#isWorkerSpent = true
    const oomKills = this.#parts.oomKills()
    const isOutOfMemory = oomKills > 0 || engineGaveUp.test(printed)
    this.#hasCrashed = !isOutOfMemory && !isFault(report)
    this.#finish({
      // The process never exits on its own while it runs a program.
      end: report?.end.by === 'signal' ? report.end : { by: 'signal', signal: 'SIGKILL' },
      killReason: isOutOfMemory ? 'memory' : null,
      oomKills,
    })
  }

  /** The watchdog of the cell has ended everything in it. */
  exceed(): void {
    this.#stop('memory')
  }

  #print({ level, text }: LogEntry): void {
    const stream = level === 'error' || level === 'warn' ? 'stderr' : 'stdout'
    const bytes = Buffer.from(`${text}\n`)
    const room = this.#parts.limits.outputBytes - this.#capture.bytes
    this.#capture.add(stream, bytes.subarray(0, room), this.#elapsed())
    if (bytes.length <= room) return
    this.#channel.truncated.add(stream)
    this.#stop('output')
  }

  #takeOther({ type, by, what, memoryBytes, cpuMs, ready }: Readonly<Record<string, unknown>>): void {
    if (type === 'denied' && typeof what === 'string') this.#denied = what.slice(0, 1000)
    if (type === 'used') {
      this.#used = { memoryPeakBytes: countOf(memoryBytes), cpuMs: countOf(cpuMs) }
      this.#ready = countOf(ready)
    }
    if (type !== 'stopped') return
    if (by === 'memory') this.#finish({ killReason: 'memory' })
    // The host's clock is checked, too, so that a time-out is never reported before the deadline.
    const isDue = this.#elapsed() >= this.#parts.limits.wallMs - earlyMs
    if (by === 'wall' && isDue) this.#finish({ killReason: 'wall' })
  }

  /** The host ended the run, so the worker may still be busy with it. */
  #stop(killReason: KillReason): void {
    if (this.#isOver) return
    this.#isWorkerSpent = true
    this.#finish({ killReason })
  }

  #fail(error: unknown): void {
    if (this.#isOver) return
    this.#isWorkerSpent = true
    this.#close()
    this.#end.reject(error)
  }

  #finish(known: Partial<IsolateEvidence>): void {
    if (this.#isOver) return
    const wallMs = this.#elapsed()
    this.#close()
    const { claims, truncated } = this.#channel
    const evidence = {
      ...nothingKnown,
      ...this.#used,
      wallMs,
      claims,
      truncated: [...truncated, ...this.#capture.cut],
      ...(this.#denied !== undefined && { denied: this.#denied }),
      ...known,
    }
    this.#addOutput(evidence).then(this.#end.resolve, this.#end.reject)
  }

  async #addOutput(evidence: IsolateEvidence): Promise<IsolateEvidence> {
    await this.#capture.delivered(this.#parts.handles.signal)
    return {
      ...evidence,
      ...(await loopTurns.perform(this.#capture.texts(evidence.truncated))),
      outputBytes: this.#capture.bytes,
    }
  }

  #close(): void {
    this.#isOver = true
    for (const cancel of this.#cancels.splice(0)) cancel()
    this.#channel.release()
    this.#budget.end()
  }

  #elapsed(): number {
    return Math.round((this.#parts.clock.now() - this.#startedAt) * 1000) / 1000
  }
}

/** What V8 prints when it aborts the process for lack of memory: `is_heap_oom` in an isolate, otherwise a sentence. */
const engineGaveUp =
  /(?:^is_heap_oom|out of memory|OOM|[Aa]llocation failed|invalid (?:array|table) (?:length|size))/m

/** With these the kernel, or the engine itself, ends a process that has made a fault. */
const faults = ['SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP', 'SIGABRT', 'SIGSYS']

/**
 * Programs can cause faults, such as TypeScript that is nested too deeply for the compiler. If they counted as crashes, three
 * such programs would take the worker's slot from everybody.
 */
function isFault(report: ProcessReport | null): boolean {
  return report?.end.by === 'signal' && faults.includes(report.end.signal)
}

function countOf(claimed: unknown): number {
  return typeof claimed === 'number' && claimed >= 0 && Number.isFinite(claimed) ? claimed : 0
}
