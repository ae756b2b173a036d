/**
 * The audit log: who did what, and how it ended, one line for each piece of work, in the order in which they ended.
 * Records are written in batches. Records that could not be written are kept, and written first when that is possible
 * again.
 */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { messageOf } from '../core/primordials.ts'
import type { Protection } from '../core/protection.ts'
import type { Audit, WorkRecord } from './audit.ts'
import type { AuditFile } from './audit-file.ts'
import type { Entry } from './audit-line.ts'
import { stateWork } from './state-work.ts'

/**
 * `refuse`: work waits for its record, and no work begins while the log cannot be written. `continue`: work does not
 * wait.
 */
export const auditFailures = ['refuse', 'continue'] as const
export type OnAuditFailure = (typeof auditFailures)[number]

export interface AuditLogParts {
  readonly file: Pick<AuditFile, 'append' | 'open' | 'isOpen' | 'close'>
  readonly onFailure: OnAuditFailure
  readonly clock: Pick<Clock, 'timestamp'>
  /** The level of cells, for work that has no receipt. */
  readonly level: () => Protection | undefined
  /** Called when the log can no longer be written, and not again until it could be written in between. */
  readonly onFailed: (failure: LazaretError) => void
}

/** Writing this many takes some milliseconds of the event loop. */
const batchMax = 64
/** They take some 20 MiB. Further records are only counted. */
const waitingMax = 10_000

interface Waiting {
  readonly entry: Entry
  kept?: PromiseWithResolvers<void>
}

export class AuditLog implements Audit, AsyncDisposable {
  readonly #parts: AuditLogParts
  readonly #waiting: Waiting[] = []
  #writing: Promise<void> | undefined
  #lost = 0
  #failure: LazaretError | undefined

  constructor(parts: AuditLogParts) {
    this.#parts = parts
  }

  readonly ready = async (): Promise<void> => {
    if (this.#failure === undefined && this.#parts.file.isOpen) return
    const tried = this.#try()
    if (this.#parts.onFailure === 'continue') return
    await tried
    if (this.#failure !== undefined) throw this.#failure
  }

  record(record: WorkRecord): Promise<void> {
    const { clock, level, onFailure } = this.#parts
    const { statement = stateWork(record, { time: clock.timestamp(), level: level() }), signature } =
      record.end
    const waiting: Waiting = { entry: { statement, client: record.work.client, signature } }
    if (onFailure === 'refuse') waiting.kept = Promise.withResolvers()
    if (this.#waiting.length < waitingMax) this.#waiting.push(waiting)
    else {
      this.#lost++
      waiting.kept?.reject(this.#failure ?? auditFailed(new Error('Too many records wait to be written.')))
    }
    void this.#write()
    return waiting.kept?.promise ?? Promise.resolve()
  }

  /** Writes what it can, and closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#try()
    this.#parts.file.close()
  }

  async #try(): Promise<void> {
    try {
      await this.#parts.file.open()
    } catch (error) {
      this.#fail(error)
      return
    }
    if (this.#waiting.length === 0) this.#failure = undefined
    await this.#write()
  }

  /** One caller writes at a time; the records of the others are in its next batch. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll()
    return this.#writing
  }

  async #writeAll(): Promise<void> {
    try {
      // Records of the same turn of the event loop are one batch.
      await Promise.resolve()
      while (this.#waiting.length > 0) await this.#writeBatch()
    } catch (error) {
      this.#fail(error)
    } finally {
      this.#writing = undefined
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice(0, batchMax)
    const lost = this.#lost
    await this.#parts.file.append(
      batch.map(({ entry }) => entry),
      lost,
    )
    this.#waiting.splice(0, batch.length)
    this.#lost -= lost
    this.#failure = undefined
    for (const { kept } of batch) kept?.resolve()
  }

  #fail(cause: unknown): void {
    const isNew = this.#failure === undefined
    this.#failure = auditFailed(cause)
    for (const waiting of this.#waiting) {
      waiting.kept?.reject(this.#failure)
      delete waiting.kept
    }
    if (isNew) this.#parts.onFailed(this.#failure)
  }
}

function auditFailed(cause: unknown): LazaretError {
  return new LazaretError('AUDIT_FAILED', { detail: messageOf(cause), cause })
}
