/** One piece of code in a context, from the moment when the interpreter gets it to its end. */
import type { Clock } from '../../core/clock.ts'
import type { Reservation } from '../../core/host-account.ts'
import type { Limits } from '../../core/limits.ts'
import type { Outcome } from '../../core/outcome.ts'
import type { Usage } from '../../core/receipt.ts'
import type { HostFunction, RunHandles } from '../../core/request.ts'
import type { Truncatable } from '../../core/result.ts'
import { Capture } from '../../result/capture.ts'
import type { Stream } from '../../result/capture.ts'
import { nothingKnown } from '../../result/exit.ts'
import type { Exit, GuestClaims, KillReason } from '../../result/exit.ts'
import { settle } from '../../result/settle.ts'
import type { Channel } from '../../runtimes/channel/channel.ts'
import { FunctionCalls } from '../../runtimes/functions/function-calls.ts'
import { HostBudget } from '../../runtimes/channel/host-budget.ts'
import { loopTurns } from '../../runtimes/channel/loop-turns.ts'
import { tellCaller } from '../../runtimes/channel/tell-caller.ts'
import { whenAborted } from '../../runtimes/work/patience.ts'
import type { ContextProcess } from './context-process.ts'
import type { ProcessLoss } from './entry-listener.ts'

export interface EntryWishes {
  /** Null for no limit. */
  readonly timeoutMs: number | null
  readonly signal?: AbortSignal | undefined
  /** Counts the output that is kept for the result. */
  readonly outputRoom?: Reservation | undefined
  readonly onOutput?: RunHandles['onOutput']
  readonly onLog?: RunHandles['onLog'] | undefined
  readonly onDisplay?: RunHandles['onDisplay'] | undefined
  readonly onClear?: RunHandles['onClear'] | undefined
  /** The caller's functions, by the names that the harness uses. */
  readonly functions: Readonly<Record<string, HostFunction>>
}

export interface EntryParts extends EntryWishes {
  readonly process: ContextProcess
  readonly clock: Clock
  readonly limits: Limits
}

export interface EntryEnd {
  readonly outcome: Outcome
  readonly claims: GuestClaims
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly Truncatable[]
  readonly usage: Usage
  readonly isStateKept: boolean
  readonly note?: string
}

/**
 * How long code may take to end when it is interrupted. Native code notices an interrupt too late, and
 * is ended with its interpreter, in total within a second.
 */
const graceMs = 750
/** The first interrupt may have arrived where exceptions are ignored, as in a finalizer. */
const againMs = 375
/**
 * How many times the output budget may be dropped in excess before the code is ended: the host reads all output, so
 * dropped output costs time, too. Code that prints a little too much may finish.
 */
const droppedFactor = 16
/** The code may print even if the caller wants no output. */
const droppedBytesLeast = 16 * 1024 * 1024

export class ContextEntry {
  /** Rejects with an error that a callback of the caller threw. */
  readonly ended: Promise<EntryEnd>
  /** Resolves when the code no longer runs. The caller's callbacks may still get output. */
  readonly stopped: Promise<void>
  readonly #parts: EntryParts
  readonly #end = Promise.withResolvers<EntryEnd>()
  readonly #stop = Promise.withResolvers<void>()
  readonly #capture: Capture
  readonly #budget: HostBudget
  readonly #calls: FunctionCalls
  readonly #cancels: (() => void)[] = []
  readonly #cut = new Set<Truncatable>()
  readonly #startedAt: number
  readonly #cpuMsBefore: number
  #channel: Channel | null = null
  #reason: KillReason | null = null
  #failure: { readonly error: unknown } | undefined
  #droppedBytes = 0
  #wasInterrupted = false
  #wasKilled = false
  #isOver = false
  /** Whether earlier code has printed, displayed or failed meanwhile. */
  #hasLateOutput = false

  constructor(parts: EntryParts, message: object) {
    const { process, clock, limits, functions } = parts
    this.#parts = parts
    this.ended = this.#end.promise
    this.ended.catch(() => undefined)
    this.stopped = this.#stop.promise
    this.#startedAt = clock.now()
    this.#cpuMsBefore = process.used.cpuMs
    const listener = {
      onFull: () => this.#isOver || process.hold(true),
      onEmpty: () => this.#isOver || process.hold(false),
      onFailure: (error: unknown) => this.#fail(error),
    }
    this.#capture = new Capture(parts.onOutput, listener, { room: parts.outputRoom })
    this.#budget = new HostBudget(clock, limits.hostMs)
    this.#budget.onSpent = () => this.#kill('host')
    const stream = process.stream
    const budget = this.#budget
    this.#calls = new FunctionCalls({ functions, limits, clock, budget, stream })
    // Its first message arrives only now, so everything is in place.
    this.#begin(message)
  }

  /** Stops it as a person would with Ctrl-C, and with its interpreter if that does not help. */
  interrupt(reason: 'wall' | 'cancelled' | 'output'): void {
    if (this.#isOver || this.#reason !== null) return
    const { process, clock } = this.#parts
    this.#reason = reason
    this.#wasInterrupted = true
    process.interrupt()
    this.#cancels.push(
      clock.after(againMs, () => process.interrupt()),
      // A host that was busy may only now read that the code has ended in time.
      clock.after(graceMs, () => this.#cancels.push(clock.after(0, () => this.#kill(reason)))),
    )
  }

  #begin(message: object): void {
    const { process, clock, limits, timeoutMs, signal } = this.#parts
    this.#channel = process.begin(message, limits, {
      budget: this.#budget,
      elapsed: () => this.#elapsed(),
      room: this.#parts.outputRoom,
      onFlood: () => this.#kill('output'),
      onMalformed: () => this.#kill(null),
      // A killed interpreter is lost, whatever it has reported before.
      onEnd: (exitCode) => this.#wasKilled || this.#finish({ end: { by: 'exit', exitCode } }, true),
      ...tellCaller(this.#capture, this.#parts),
      onOutput: (from, bytes) => this.#take(from, bytes),
      onLost: (loss) => this.#lose(loss),
      onOther: ({ type }) => (this.#hasLateOutput ||= type === 'late'),
      calls: this.#calls,
      isLasting: true,
    })
    if (timeoutMs !== null) this.#cancels.push(clock.after(timeoutMs, () => this.interrupt('wall')))
    if (signal !== undefined) this.#cancels.push(whenAborted(signal, () => this.interrupt('cancelled')))
  }

  #take(stream: Stream, bytes: Buffer): void {
    const { outputBytes } = this.#parts.limits
    const room = outputBytes - this.#capture.bytes
    if (room > 0) this.#capture.add(stream, bytes.subarray(0, room), this.#elapsed())
    if (bytes.length <= room) return
    this.#cut.add(stream)
    this.#droppedBytes += bytes.length - Math.max(0, room)
    if (this.#droppedBytes > Math.max(droppedFactor * outputBytes, droppedBytesLeast))
      this.interrupt('output')
  }

  /** The caller's own error, which is passed back to the caller. */
  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.interrupt('cancelled')
  }

  #kill(reason: KillReason | null): void {
    if (this.#isOver) return
    this.#reason ??= reason
    this.#wasKilled = true
    this.#parts.process.kill()
  }

  #lose({ report, oomKills, exceeded }: ProcessLoss): void {
    const ofWatchdog = exceeded === 'stdout' || exceeded === 'stderr' ? null : exceeded
    this.#finish(
      {
        end: report?.end ?? null,
        killReason: this.#reason ?? ofWatchdog,
        oomKills,
        diskFull: report?.diskFull ?? false,
        memoryPeakBytes: report?.watchdogPeakBytes ?? 0,
      },
      false,
    )
  }

  #finish(evidence: Partial<Exit>, isStateKept: boolean): void {
    if (this.#isOver) return
    const { cpuMs, memoryPeakBytes } = this.#readUsed()
    this.#isOver = true
    this.#stop.resolve()
    for (const cancel of this.#cancels.splice(0)) cancel()
    this.#calls.end()
    this.#budget.end()
    const { process, limits, timeoutMs } = this.#parts
    process.rest()
    const usage: Usage = {
      wallMs: this.#elapsed(),
      cpuMs: Math.max(0, cpuMs - this.#cpuMsBefore),
      memoryPeakBytes,
      queuedMs: 0,
      outputBytes: this.#capture.bytes,
    }
    const claims = this.#channel?.claims ?? nothingKnown.claims
    const exit: Exit = { ...nothingKnown, ...usage, claims, killReason: this.#reason, ...evidence }
    const outcome = settle({ ...limits, cpuMs: null, wallMs: timeoutMs ?? limits.wallMs }, exit)
    const truncated = [...new Set([...this.#cut, ...this.#capture.cut, ...(this.#channel?.truncated ?? [])])]
    const note = this.#describe(isStateKept)
    const known = { outcome, claims, truncated, usage, isStateKept, ...(note === undefined ? {} : { note }) }
    this.#deliver(known).then(this.#end.resolve, this.#end.reject)
  }

  #readUsed(): ContextProcess['used'] {
    try {
      return this.#parts.process.used
    } catch {
      return { cpuMs: 0, memoryPeakBytes: 0 } // its cgroup went with it
    }
  }

  async #deliver(known: Omit<EntryEnd, 'stdout' | 'stderr'>): Promise<EntryEnd> {
    await this.#capture.delivered(this.#parts.signal)
    if (this.#failure !== undefined) throw this.#failure.error
    return { ...known, ...(await loopTurns.perform(this.#capture.texts(known.truncated))) }
  }

  #describe(isStateKept: boolean): string | undefined {
    if (isStateKept) {
      const interrupted = 'The code was interrupted. Variables, imports and functions are still there.'
      const late = 'Some of the output is from earlier code, which went on after its result.'
      const notes = [...(this.#reason === null ? [] : [interrupted]), ...(this.#hasLateOutput ? [late] : [])]
      return notes.length === 0 ? undefined : notes.join(' ')
    }
    const fresh = 'The next code gets a fresh context, without variables, imports and functions.'
    if (!this.#wasKilled) return `The interpreter has ended. ${fresh}`
    return this.#wasInterrupted
      ? `The code did not stop when it was interrupted, so its interpreter was ended. ${fresh}`
      : `The interpreter was ended. ${fresh}`
  }

  #elapsed(): number {
    return Math.round((this.#parts.clock.now() - this.#startedAt) * 1000) / 1000
  }
}
