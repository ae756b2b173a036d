/**
 * The one story of all work, whatever the entry point: it is admitted, counted, performed, recorded and reported. No
 * work of a guest begins anywhere else.
 */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { onAbort } from '../core/abort.ts'
import type { Work, WorkKind } from '../core/work.ts'
import { endOfError } from '../core/work-end.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Audit, WorkRecord } from '../observe/audit.ts'
import type { FoundFolder } from './access.ts'
import type { Policy, Ticket } from './admit.ts'

export interface GovernorParts {
  readonly policy: Policy
  readonly audit: Audit
  readonly clock: Clock
  /** Aborted when no more work may begin, which ends all waits for admission. */
  readonly closing: AbortSignal
  /** Called when work has been admitted. */
  readonly onStarted?: (work: Work, queuedMs: number) => void
  /** Called after the record is written. */
  readonly onEnded: (record: WorkRecord) => void
}

/** Work that has been admitted. */
export interface Begun {
  /** How long it waited for the policy. */
  readonly queuedMs: number
  /** Only the first call counts. Rejects if the record could not be written. */
  readonly end: (end: WorkEnd) => Promise<void>
  readonly fail: (error: unknown) => Promise<void>
  /** Keeps the ticket beyond the end of the work, until the returned function is called. */
  readonly keep: () => () => void
}

/** Options of `perform`. */
export interface How<T> {
  /** Default: `done`. */
  readonly endOf?: (result: T) => WorkEnd
  /** The signal that ends the wait for the policy. Default: the governor's `closing`. */
  readonly signal?: AbortSignal
  /** The result of work that was not admitted before the signal. Default: it throws DISPOSED. */
  readonly unbegun?: () => T | Promise<T>
}

export class Governor {
  readonly #parts: GovernorParts
  readonly #running = new Map<WorkKind, number>()
  readonly #ended = new Set<() => void>()

  constructor(parts: GovernorParts) {
    this.#parts = parts
  }

  /** For variables that are set before the work that gets them. Throws ACCESS_DENIED. */
  requireVariables(names: readonly string[]): void {
    this.#parts.policy.requireVariables?.(names)
  }

  /** For a folder that a name leads to after its sandbox was admitted. Throws ACCESS_DENIED. */
  requireFolder(folder: FoundFolder): void {
    this.#parts.policy.requireFolder?.(folder)
  }

  /** The number of pieces of work of this kind between their request and their end. */
  running(kind: WorkKind): number {
    return this.#running.get(kind) ?? 0
  }

  /** Resolves when no work of these kinds is between its request and its end. */
  async settled(kinds: readonly WorkKind[]): Promise<void> {
    while (kinds.some((kind) => this.running(kind) > 0)) {
      const end = Promise.withResolvers<void>()
      this.#ended.add(end.resolve)
      await end.promise
      this.#ended.delete(end.resolve)
    }
  }

  /** Throws what the policy, `act` and writing the record throw, and DISPOSED. */
  async perform<T>(work: Work, act: (begun: Begun) => Promise<T>, how: How<T> = {}): Promise<T> {
    const { endOf = () => ({ outcome: 'done' }), signal, unbegun = refuse } = how
    const { ticket, ...begun } = await this.#begin(work, signal)
    let result
    try {
      result = ticket === null ? await unbegun() : await act(begun)
    } catch (error) {
      await begun.fail(error)
      throw error
    }
    await begun.end(endOf(result))
    return result
  }

  /** For work that continues after its caller has an answer. Throws what the policy throws, and DISPOSED. */
  async begin(work: Work): Promise<Begun> {
    const { ticket, ...begun } = await this.#begin(work)
    if (ticket !== null) return begun
    const error = new LazaretError('DISPOSED')
    await begun.fail(error)
    throw error
  }

  /** Without a ticket if the signal was aborted first: then the work may not begin. */
  async #begin(work: Work, signal = this.#parts.closing): Promise<Begun & { ticket: Ticket | null }> {
    const { clock } = this.#parts
    const askedAt = clock.now()
    this.#count(work.kind, 1)
    let ticket: Ticket | null = null
    let isOver = false
    let isKept = false
    const endReported = Promise.withResolvers<void>()
    const giveBack = async (): Promise<void> => ticket?.[Symbol.asyncDispose]()
    const keep = () => {
      isKept = true
      // A ticket that is returned without an end treats the work as never begun.
      return () => void endReported.promise.then(giveBack).catch(() => undefined)
    }
    const end = async (how: WorkEnd): Promise<void> => {
      if (isOver) return
      isOver = true
      this.#count(work.kind, -1)
      try {
        ticket?.ended?.(how)
        if (!isKept) await giveBack()
      } finally {
        endReported.resolve()
        await this.#record({ work, end: how, wallMs: clock.now() - askedAt })
      }
    }
    const fail = async (error: unknown): Promise<void> => {
      try {
        await end(endOfError(error))
      } catch {
        // If there are two failures, the first one is reported.
      }
    }
    try {
      if (!this.#parts.closing.aborted) ticket = await this.#unlessAborted(signal, this.#admit(work, signal))
    } catch (error) {
      await fail(error)
      throw error
    }
    if (ticket !== null) this.#parts.onStarted?.(work, ticket.queuedMs)
    return { ticket, queuedMs: ticket?.queuedMs ?? 0, end, fail, keep }
  }

  /** If the operator wants records, no work begins that could not be recorded. */
  async #admit(work: Work, signal: AbortSignal): Promise<Ticket> {
    const { policy, audit } = this.#parts
    await audit.ready?.()
    return policy.admit(work, signal)
  }

  /** Null if the signal is aborted, unless the policy answers at once. A ticket that arrives later is returned. */
  async #unlessAborted(signal: AbortSignal, asked: Promise<Ticket>): Promise<Ticket | null> {
    const aborted = Promise.withResolvers<null>()
    let forget: () => void = () => undefined
    const giveUp = () => {
      forget = this.#parts.clock.after(0, () => aborted.resolve(null))
    }
    if (signal.aborted) giveUp()
    const stopListening = onAbort(signal, giveUp)
    try {
      const first = await Promise.race([asked, aborted.promise])
      if (first === null) void asked.then((late) => late[Symbol.asyncDispose]()).catch(() => undefined)
      return first
    } catch (error) {
      if (signal.aborted && error === signal.reason) return null
      throw error
    } finally {
      stopListening()
      forget()
    }
  }

  async #record(record: WorkRecord): Promise<void> {
    await this.#parts.audit.record(record)
    this.#parts.onEnded(record)
  }

  #count(kind: WorkKind, by: 1 | -1): void {
    this.#running.set(kind, this.running(kind) + by)
    if (by === -1) for (const tell of this.#ended) tell()
  }
}

function refuse(): never {
  throw new LazaretError('DISPOSED')
}
