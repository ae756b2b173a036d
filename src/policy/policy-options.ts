/** The options of rates, queues, breakers and retries: of a Lazaret, of an executor, and of each part alone. */
import { z } from 'zod'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { timerMsMax } from '../core/limits.ts'
import { isAbortSignal, readInput } from './hostile-input.ts'
import { describeIssues, parsing } from './schemas.ts'

const clockMethods = ['now', 'timestamp', 'after', 'every', 'id'] as const satisfies (keyof Clock)[]

export const clockSchema = z.custom<Clock>(
  (value) => clockMethods.every((name) => typeof (value as Clock | null)?.[name] === 'function'),
  { error: `must have the methods ${clockMethods.join(', ')}` },
)

export const functionSchema = z.custom<(...args: never[]) => unknown>(
  (value) => typeof value === 'function',
  {
    error: 'must be a function',
  },
)

export const signalSchema = z.custom<AbortSignal>(isAbortSignal, { error: 'must be an AbortSignal' })

export const rateFields = { perMinute: z.int().min(1).max(100_000) }

export const queueFields = {
  runningMax: z.int().min(1).max(100_000).optional(),
  waitingMax: z.int().min(0).max(1_000_000).optional(),
  waitMs: z.int().min(1).max(timerMsMax).optional(),
}

export const breakerFields = {
  failureShareMax: z.number().min(0).max(1).optional(),
  resultsMax: z.int().min(1).max(10_000).optional(),
  resultsMin: z.int().min(1).max(10_000).optional(),
  coolDownMs: z.int().min(1).max(timerMsMax).optional(),
}

export const retryFields = {
  retriesMax: z.int().min(0).max(1000).optional(),
  firstPauseMs: z.number().min(0).max(timerMsMax).optional(),
  pauseMsMax: z.number().min(0).max(timerMsMax).optional(),
}

/** Returns the options unchanged. Throws INVALID_REQUEST that names the option. */
export function checkOptions<Options>(schema: z.ZodType, options: Options): Options {
  const parsed = readInput(() => schema.safeParse(options, parsing))
  if (parsed.success) return options
  throw new LazaretError('INVALID_REQUEST', {
    detail: `Options: ${describeIssues(parsed.error)}.`,
    hint: 'See the type of the options for the keys and their units.',
  })
}
