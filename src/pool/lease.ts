/** A place to run one request in: a worker that waited for it, or leave to start one. */
import type { Limits } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import type { StartKind } from '../core/result.ts'
import type { Place } from '../jail/place.ts'
import { nothingKnown } from '../result/exit.ts'
import type { Exit } from '../result/exit.ts'
import { noFiles } from '../runtimes/collect/collect-files.ts'
import type { RunEnd } from '../runtimes/follow-run.ts'
import type { ParkedWorker } from '../runtimes/parked.ts'
import type { Program, Runtime } from '../runtimes/runtime.ts'
import type { Leave, Turn } from './start-gate.ts'

export interface LeaseParts {
  readonly request: RunRequest
  readonly limits: Limits
  readonly runtime: Runtime
  readonly prepare: (place: Place) => Program
  /** Waits for a turn; null when the request is cancelled first. */
  readonly turn: () => Promise<Turn<ParkedWorker>>
  /** A worker that is there sooner than a cell could be started; null when there is none. */
  readonly fork: () => Promise<ParkedWorker | null>
  /** Runs it in a cell of its own. `onStarted` is called when the guest executes. */
  readonly runCold: (onStarted: () => void) => Promise<RunEnd>
  /** Called when the lease has been given back. */
  readonly onEnd: () => void
}

export interface LeasedEnd extends RunEnd {
  readonly start: StartKind
}

export class Lease implements AsyncDisposable {
  /** How long the request waited for its turn. */
  readonly queuedMs: number
  readonly #parts: LeaseParts
  #turn: Turn<ParkedWorker>

  constructor(parts: LeaseParts, turn: Turn<ParkedWorker>, queuedMs = 0) {
    this.queuedMs = queuedMs
    this.#parts = parts
    this.#turn = turn
  }

  /** Once. Rejects when the run was lost through no fault of the guest. */
  async run(): Promise<LeasedEnd> {
    for (;;) {
      const turn = this.#turn
      if (turn === null) return { ...neverBegan(), start: 'cold' }
      if ('leave' in turn) {
        const worker = await this.#parts.fork()
        if (worker === null) return { ...(await this.#runCold(turn.leave)), start: 'cold' }
        this.#turn = { worker }
        turn.leave()
        continue
      }
      const { request, limits, runtime, prepare } = this.#parts
      const { worker } = turn
      // May refuse the request: then the worker is given back.
      const program = runtime.parks === 'program' ? worker.fit(request, limits) : prepare(worker.place)
      this.#turn = null
      const end = await worker.run({ program, request, limits })
      if (end !== null) return { ...end, start: worker.start }
      // It was lost before anything ran: the one case in which trying again is safe.
      this.#turn = await this.#parts.turn()
    }
  }

  /** Gives back what was not used. What cannot be removed of it the machine tells of at its own end. */
  async [Symbol.asyncDispose](): Promise<void> {
    const turn = this.#turn
    this.#turn = null
    this.#parts.onEnd()
    if (turn === null) return
    if ('leave' in turn) turn.leave()
    else await turn.worker[Symbol.asyncDispose]().catch(() => undefined)
  }

  async #runCold(leave: Leave): Promise<RunEnd> {
    try {
      return await this.#parts.runCold(leave)
    } finally {
      leave()
    }
  }
}

/** Cancelled while it waited: there was never a cell, and so no layer of one. */
function neverBegan(): RunEnd {
  const exit: Exit = { ...nothingKnown, killReason: 'cancelled' }
  return { exit, cgroupVersion: null, collected: noFiles, cleaned: Promise.resolve() }
}
