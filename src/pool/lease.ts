/** A worker on loan for one job. */
import { nothingKnown } from '../result/exit.ts'
import type { Exit } from '../result/exit.ts'
import type { StartKind } from '../core/receipt.ts'
import { noFiles } from '../runtimes/collect/collect-files.ts'
import type { RunEnd } from '../runtimes/work/follow-run.ts'
import type { Job } from '../runtimes/work/guest-start.ts'
import type { Worker } from '../runtimes/work/worker.ts'

export interface LeaseParts {
  /** Null where the job was cancelled before there was one. */
  readonly worker: Worker | null
  /** How long the job waited for it. */
  readonly queuedMs: number
  /** Another, for one that was lost before anything ran. */
  readonly another: () => Promise<Worker | null>
  /** Called when the lease is over. */
  readonly onEnd: () => void
}

export interface LeasedEnd extends RunEnd {
  readonly start: StartKind
}

export class Lease implements AsyncDisposable {
  readonly queuedMs: number
  readonly #parts: LeaseParts
  #worker: Worker | null

  constructor(parts: LeaseParts) {
    this.queuedMs = parts.queuedMs
    this.#parts = parts
    this.#worker = parts.worker
  }

  /** Once. Rejects when the run was lost through no fault of the guest. */
  async run(job: Job): Promise<LeasedEnd> {
    for (;;) {
      const worker = this.#worker
      if (worker === null) return neverBegan()
      const end = await worker.run(job)
      this.#worker = null
      if (end !== null) return { ...end, start: worker.start }
      // It was lost before anything ran: the one case in which trying again is safe.
      this.#worker = await this.#parts.another()
    }
  }

  /** Gives back what was not used. What cannot be removed of it the machine tells of at its own end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.onEnd()
    await this.#worker?.[Symbol.asyncDispose]().catch(() => undefined)
  }
}

/** Cancelled while it waited: there was never a cell, and so no layer of one. */
export function neverBegan(): LeasedEnd {
  const exit: Exit = { ...nothingKnown, killReason: 'cancelled' }
  return { exit, start: 'cold', collected: noFiles, cleaned: Promise.resolve() }
}
