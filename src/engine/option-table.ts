/**
 * Every option once: what it may be, what counts when nobody names it, and which doors it may come by. What
 * `createLazaret()` and a configuration file accept follows from this table, and docs/configuration.md is compared with it.
 */
import { z } from 'zod'

import type { Clock } from '../core/clock.ts'
import { defaultLimits } from '../core/limits.ts'
import type { LimitName } from '../core/limits.ts'
import { defaultMinimum, protectionLevels } from '../core/protection.ts'
import { networkModes, runtimeNames, toolchainNames } from '../core/request.ts'
import { auditFailures } from '../observe/audit-log.ts'
import { defaultUidRange } from '../jail/uid-range.ts'
import { defaultPoolSize } from '../pool/shape.ts'
import type { Admit } from '../policy/admit.ts'
import { higherLevel, lowerLimits } from '../policy/narrowing.ts'
import type { Narrowing } from '../policy/narrowing.ts'
import { readableFolders } from '../policy/readable-folders.ts'
import { limitsSchema, preloadSchema } from '../policy/schemas.ts'
import type { CodeOptionName, LazaretEvent, LazaretOptions } from './options.ts'

/** Reads a path of the host. In a file it may be relative. */
export type PathSchema = z.ZodType<string, string>

/** An option that can be written down. */
export interface PlainOption<Value> {
  readonly schema: (path: PathSchema) => z.ZodType<Read<Value>>
  readonly usual: Value
  /**
   * Which configuration files may say it. `trusted`: those that count in full, because it widens or names programs. A
   * narrowing: those that are found on the way too, and then only as far as it narrows.
   */
  readonly files: 'trusted' | Narrowing<Value>
}

/** An option that only the code of the caller can give. */
export interface CodeOption<Value> {
  readonly schema: () => z.ZodType<Value>
  readonly files: 'none'
}

/** What zod makes of a value: a key that may be absent may also be there without a value. */
type Read<Value> = Value extends object
  ? { readonly [Key in keyof Value]: Read<Value[Key]> | undefined }
  : Value

export type OptionName = keyof LazaretOptions
type ValueOf<Name extends OptionName> = NonNullable<LazaretOptions[Name]>

type OptionTable = {
  readonly [Name in OptionName]-?: Name extends CodeOptionName
    ? CodeOption<ValueOf<Name>>
    : PlainOption<ValueOf<Name>>
}

const foldersMax = 256
/** The longest that a timer can wait. */
const timerMsMax = 2 ** 31 - 1
const poolCount = z.int().min(0).max(256)
/** The last 32-bit id means "no id" to the kernel. */
const idsEnd = 2 ** 32 - 1
const clockMethods = ['now', 'timestamp', 'after', 'every', 'id'] as const satisfies (keyof Clock)[]

export const optionTable: OptionTable = {
  minimumProtection: {
    schema: () => z.enum(protectionLevels),
    usual: defaultMinimum,
    files: higherLevel(defaultMinimum),
  },
  defaults: { schema: () => limitsSchema, usual: {}, files: lowerLimits(defaultLimits) },
  ceilings: { schema: () => limitsSchema, usual: {}, files: lowerLimits({}) },
  toolchains: {
    schema: (path) =>
      z.strictObject(Object.fromEntries(toolchainNames.map((name) => [name, path.optional()]))),
    usual: {},
    files: 'trusted',
  },
  readable: { schema: readableFolders, usual: [], files: 'trusted' },
  pools: {
    schema: () =>
      z.partialRecord(
        z.enum(runtimeNames),
        z
          .strictObject({ min: poolCount.optional(), max: poolCount.optional() })
          .refine(({ min = 0, max = defaultPoolSize.max }) => min <= max, {
            error: 'min must not be above max',
          }),
      ),
    usual: {},
    files: 'trusted',
  },
  preload: { schema: () => preloadSchema, usual: [], files: 'trusted' },
  access: {
    schema: (path) =>
      z.strictObject({
        networks: z.array(z.enum(networkModes)).optional(),
        preload: z.boolean().optional(),
        workspaces: z.array(path).max(foldersMax).optional(),
        readable: z.array(path).max(foldersMax).optional(),
      }),
    usual: {},
    files: 'trusted',
  },
  queue: {
    schema: () =>
      z.strictObject({
        runningMax: z.int().min(1).max(100_000).optional(),
        memoryTotalBytes: limitsSchema.shape.memoryBytes.optional(),
        waitingMax: z.int().min(0).max(1_000_000).optional(),
        waitMs: z.int().min(1).max(timerMsMax).optional(),
      }),
    usual: {},
    files: 'trusted',
  },
  rate: {
    schema: () => z.union([z.literal(false), z.strictObject({ perMinute: z.int().min(1).max(100_000) })]),
    usual: false,
    files: 'trusted',
  },
  breaker: {
    schema: () =>
      z.union([
        z.literal(false),
        z.strictObject({
          failureShareMax: z.number().min(0).max(1).optional(),
          resultsMax: z.int().min(1).max(10_000).optional(),
          resultsMin: z.int().min(1).max(10_000).optional(),
          coolDownMs: z.int().min(1).max(timerMsMax).optional(),
        }),
      ]),
    usual: false,
    files: 'trusted',
  },
  uidRange: {
    schema: () =>
      z
        .strictObject({ first: z.int().min(1000), count: z.int().min(256).max(16_777_216) })
        .refine(({ first, count }) => first + count <= idsEnd, { error: `must end below ${idsEnd}` }),
    usual: defaultUidRange,
    files: 'trusted',
  },
  allowUnenforced: {
    schema: () => z.array(z.enum(Object.keys(defaultLimits) as LimitName[])),
    usual: [],
    files: 'trusted',
  },
  audit: {
    schema: (path) =>
      z.union([
        z.literal(false),
        z.strictObject({ file: path, onFailure: z.enum(auditFailures).optional() }),
      ]),
    usual: false,
    files: 'trusted',
  },
  receipts: {
    schema: (path) => z.union([z.literal(false), z.strictObject({ privateKeyFile: path })]),
    usual: false,
    files: 'trusted',
  },
  admit: {
    schema: () => z.custom<Admit>((value) => typeof value === 'function', { error: 'must be a function' }),
    files: 'none',
  },
  onEvent: {
    schema: () =>
      z.custom<(event: LazaretEvent) => void>((value) => typeof value === 'function', {
        error: 'must be a function',
      }),
    files: 'none',
  },
  clock: {
    schema: () =>
      z.custom<Clock>(
        (value) => clockMethods.every((name) => typeof (value as Clock | null)?.[name] === 'function'),
        { error: `must have the methods ${clockMethods.join(', ')}` },
      ),
    files: 'none',
  },
}

/** The same as a list, for those who treat all alike. */
export const optionRows = Object.entries(optionTable) as readonly (readonly [
  OptionName,
  PlainOption<unknown> | CodeOption<unknown>,
])[]
