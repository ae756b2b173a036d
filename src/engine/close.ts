/** How long work may continue after `close()` was called. */
import { z } from 'zod'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors/errors.ts'
import { timerMsMax } from '../core/limits.ts'
import { readInput } from '../policy/hostile-input.ts'
import { parsing, sayIssues } from '../policy/schemas.ts'
import type { CloseOptions } from './api.ts'

const graceMsDefault = 10_000
const schema = z.strictObject({ graceMs: z.int().min(0).max(timerMsMax).optional() })

/** Throws INVALID_REQUEST. */
export function parseGrace(options: CloseOptions = {}): number {
  const parsed = readInput(() => schema.safeParse(options, parsing))
  if (!parsed.success) throw new LazaretError('INVALID_REQUEST', { detail: sayIssues(parsed.error) })
  return parsed.data.graceMs ?? graceMsDefault
}

/** Resolves when the work has ended, or after `ms`. */
export async function within(ms: number, work: Promise<unknown>, clock: Clock): Promise<void> {
  const over = Promise.withResolvers<void>()
  const cancel = clock.after(ms, over.resolve)
  await Promise.race([work, over.promise])
  cancel()
}
