/** A worker on loan for one job. */
import { nothingKnown } from '../result/exit.ts'
import type { Exit } from '../result/exit.ts'
import type { StartKind } from '../core/receipt.ts'
import { noFiles } from '../runtimes/collect/collect-files.ts'
import type { RunEnd } from '../runtimes/work/follow-run.ts'
import type { Job } from '../runtimes/work/guest-start.ts'
import type { Worker } from '../runtimes/work/worker.ts'

export interface LeaseParts {
  /** Null if the job was cancelled before it had a worker. */
  readonly worker: Worker | null
  /** How long the job waited for the worker. */
  readonly queuedMs: number
  /** Replaces a worker that was lost before anything ran. */
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

  /** May be called once. Rejects if the run was lost through no fault of the guest. */
  async run(job: Job): Promise<LeasedEnd> {
    for (;;) {
      const worker = this.#worker
      if (worker === null) return neverBegan()
      const end = await worker.run(job)
      this.#worker = null
      if (end !== null) return { ...end, start: worker.start }
      // The worker was lost before anything ran; only then is it safe to try again.
      this.#worker = await this.#parts.another()
    }
  }

  /** Ends an unused worker. If part of it cannot be removed, the machine reports that when it is disposed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#parts.onEnd()
    await this.#worker?.[Symbol.asyncDispose]().catch(() => undefined)
  }
}

/** The job was cancelled while it waited, so there was no cell and no layer. */
export function neverBegan(): LeasedEnd {
  const exit: Exit = { ...nothingKnown, killReason: 'cancelled' }
  return { exit, start: 'cold', collected: noFiles, cleaned: Promise.resolve() }
}
