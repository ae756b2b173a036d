/** Checks the options of executors: a misspelt option would otherwise be ignored silently. */
import { z } from 'zod'

import { limitRanges, timerMsMax } from '../../core/limits.ts'
import { validationModes } from '../../core/validation.ts'
import {
  breakerFields,
  checkOptions,
  clockSchema,
  functionSchema,
  queueFields,
  rateFields,
  retryFields,
} from '../../policy/policy-options.ts'
import { limitsSchema } from '../../policy/schemas.ts'
import { importsSchema, lazaretSchema } from '../../policy/validation/input-validator.ts'

export const secondsSchema = z
  .number()
  .positive()
  .max(timerMsMax / 1000)

const MiB = 1024 * 1024
const { least, most } = limitRanges.memoryBytes

const limitFields = {
  timeoutSeconds: secondsSchema.optional(),
  memoryLimitMb: z
    .number()
    .min(least / MiB)
    .max(most / MiB)
    .optional(),
  openFilesMax: limitsSchema.shape.openFilesMax,
  canFork: z.boolean().optional(),
}

const orFalse = (fields: z.ZodRawShape) => z.union([z.literal(false), z.strictObject(fields)]).optional()

const executorSchema = z.strictObject({
  ...limitFields,
  validation: z
    .strictObject({ mode: z.enum(validationModes).optional(), imports: importsSchema.optional() })
    .optional(),
  rate: orFalse(rateFields),
  queue: z.strictObject(queueFields).optional(),
  breaker: orFalse(breakerFields),
  retry: orFalse(retryFields),
  monitor: z
    .custom((value) => typeof (value as { hear?: unknown } | null)?.hear === 'function', {
      error: 'must be an ExecutionMonitor',
    })
    .optional(),
  onTimeout: functionSchema.optional(),
  clock: clockSchema.optional(),
})

const subprocessSchema = z.strictObject({ ...limitFields, lazaret: lazaretSchema })

/** Throws INVALID_REQUEST that names the option. */
export function readExecutorOptions<Options>(lazaret: unknown, options: Options): Options {
  checkOptions(z.object({ lazaret: lazaretSchema }), { lazaret })
  return checkOptions(executorSchema, options)
}

/** Throws INVALID_REQUEST that names the option. */
export function readSubprocessOptions<Options>(options: Options): Options {
  return checkOptions(subprocessSchema, options)
}
