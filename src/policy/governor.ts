/**
 * The one story of all work, from every door: it is admitted, counted, performed, recorded and told of. Nothing that a
 * guest is to do begins anywhere else.
 */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import { onAbort } from '../core/on-abort.ts'
import type { Work, WorkKind } from '../core/work.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { Audit, WorkRecord } from '../observe/audit.ts'
import type { Policy, Ticket } from './admit.ts'

export interface GovernorParts {
  readonly policy: Policy
  readonly audit: Audit
  readonly clock: Clock
  /** Aborted when no more work may begin: who waits to be admitted then waits no longer. */
  readonly closing: AbortSignal
  /** Called after the record is kept. */
  readonly onEnded: (record: WorkRecord) => void
}

/** Work that has been admitted. */
export interface Begun {
  /** How long the policy let it wait. */
  readonly queuedMs: number
  /** The first of these counts. Rejects when the record could not be kept. */
  readonly end: (end: WorkEnd) => Promise<void>
  readonly fail: (error: unknown) => Promise<void>
  /** Takes the ticket over: it is given back when what this returns is called, in place of with the end. */
  readonly keep: () => () => void
}

/** What `perform` does besides performing. */
export interface How<T> {
  /** Default: `done`. */
  readonly endOf?: (result: T) => WorkEnd
  /** Whose abort ends the wait for the policy. Default: that of the governor's `closing`. */
  readonly signal?: AbortSignal
  /** The result of work that was not admitted before that. Default: it throws DISPOSED. */
  readonly unbegun?: () => T | Promise<T>
}

export class Governor {
  readonly #parts: GovernorParts
  readonly #running = new Map<WorkKind, number>()

  constructor(parts: GovernorParts) {
    this.#parts = parts
  }

  /** Pieces of work of that kind between their request and their end. */
  running(kind: WorkKind): number {
    return this.#running.get(kind) ?? 0
  }

  /** Throws what the policy throws, what `act` throws, what keeping the record throws, and DISPOSED. */
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

  /** For work that goes on when its caller has an answer. Throws what the policy throws, and DISPOSED. */
  async begin(work: Work): Promise<Begun> {
    const { ticket, ...begun } = await this.#begin(work)
    if (ticket !== null) return begun
    const error = new LazaretError('DISPOSED')
    await begun.fail(error)
    throw error
  }

  /** Without a ticket where the signal was aborted first: then nothing of the work may begin. */
  async #begin(work: Work, signal = this.#parts.closing): Promise<Begun & { ticket: Ticket | null }> {
    const { clock } = this.#parts
    const askedAt = clock.now()
    this.#count(work.kind, 1)
    let ticket: Ticket | null = null
    let isOver = false
    let isKept = false
    const giveBack = async (): Promise<void> => ticket?.[Symbol.asyncDispose]()
    const keep = () => {
      isKept = true
      return () => void giveBack().catch(() => undefined)
    }
    const end = async (how: WorkEnd): Promise<void> => {
      if (isOver) return
      isOver = true
      this.#count(work.kind, -1)
      try {
        ticket?.ended?.(how)
        if (!isKept) await giveBack()
      } finally {
        await this.#record({ work, end: how, wallMs: clock.now() - askedAt })
      }
    }
    const fail = async (error: unknown): Promise<void> => {
      try {
        await end(endOfError(error))
      } catch {
        // Two failures: the first reason is the one to know.
      }
    }
    try {
      ticket = await this.#unlessAborted(signal, this.#admit(work, signal))
    } catch (error) {
      await fail(error)
      throw error
    }
    return { ticket, queuedMs: ticket?.queuedMs ?? 0, end, fail, keep }
  }

  /** Nothing begins of which no record could be kept, where the operator wants one. */
  async #admit(work: Work, signal: AbortSignal): Promise<Ticket> {
    const { policy, audit } = this.#parts
    await audit.ready?.()
    return policy.admit(work, signal)
  }

  /** Null when the signal is aborted, unless the policy answers at once: a ticket that comes later is given back. */
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
  }
}

function refuse(): never {
  throw new LazaretError('DISPOSED')
}

function endOfError(error: unknown): WorkEnd {
  if (!(error instanceof LazaretError)) return { outcome: 'fault' }
  return { outcome: error.kind === 'refusal' ? 'refused' : 'fault', code: error.code }
}
