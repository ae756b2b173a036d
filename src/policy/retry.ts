/** Retries work that failed through no fault of the guest: transient faults, and refusals because there was no room. */
import { z } from 'zod'

import { randomFraction, systemClock } from '../core/clock.ts'
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import type { ErrorCode } from '../core/errors/errors.ts'
import { checkOptions, clockSchema, functionSchema, retryFields, signalSchema } from './policy-options.ts'

export interface RetryOptions {
  /** In addition to the first attempt. Default 3. */
  readonly retriesMax?: number
  /** Before the first retry; each later pause is twice as long. Milliseconds; default 200. */
  readonly firstPauseMs?: number
  /** Default 10 s. */
  readonly pauseMsMax?: number
  /** The clock of the pauses. Default: the system's. */
  readonly clock?: Clock
  /** From 0 to 1. Default: at random. */
  readonly random?: () => number
  /** Ends the pauses: then the last error is thrown. */
  readonly signal?: AbortSignal
}

export const retryDefaults = { retriesMax: 3, firstPauseMs: 200, pauseMsMax: 10_000 }

const optionsSchema = z.strictObject({
  ...retryFields,
  clock: clockSchema.optional(),
  random: functionSchema.optional(),
  signal: signalSchema.optional(),
})

/**
 * The refusals that are retried. RATE_LIMITED and CIRCUIT_OPEN are not: a client that asks too often should ask less,
 * and a breaker is open because more attempts would not help.
 */
const capacity: readonly ErrorCode[] = ['QUEUE_FULL', 'CLIENT_QUEUE_FULL']

export function isTransient(error: unknown): boolean {
  if (!(error instanceof LazaretError) || !error.retryable) return false
  return error.kind === 'fault' || capacity.includes(error.code)
}

/** Throws what the last attempt threw. */
export async function retry<T>(act: (attempt: number) => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const {
    retriesMax = retryDefaults.retriesMax,
    firstPauseMs = retryDefaults.firstPauseMs,
    pauseMsMax = retryDefaults.pauseMsMax,
    signal,
  } = checkOptions(optionsSchema, options)
  const { clock = systemClock, random = randomFraction } = options
  for (let attempt = 1; ; attempt++) {
    try {
      return await act(attempt)
    } catch (error) {
      if (attempt > retriesMax || !isTransient(error) || signal?.aborted === true) throw error
      const mostMs = Math.min(firstPauseMs * 2 ** (attempt - 1), pauseMsMax)
      // Half of it is random, so that requests that failed together do not retry together.
      const pauseMs = mostMs / 2 + (random() * mostMs) / 2
      if (!(await pause(pauseMs, clock, signal))) throw error
    }
  }
}

/** False if the signal came first. */
function pause(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<boolean> {
  const over = Promise.withResolvers<boolean>()
  const cancel = clock.after(ms, () => {
    signal?.removeEventListener('abort', giveUp)
    over.resolve(true)
  })
  const giveUp = () => {
    cancel()
    over.resolve(false)
  }
  signal?.addEventListener('abort', giveUp, { once: true })
  return over.promise
}
