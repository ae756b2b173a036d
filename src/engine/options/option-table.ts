/**
 * Every option once: what it may be, its default, and where it may be set. What `createLazaret()` and a configuration
 * file accept follows from this table, and docs/operate/configuration.md is compared with it.
 */
import { z } from 'zod'

import { defaultLimits } from '../../core/limits.ts'
import type { LimitName } from '../../core/limits.ts'
import { defaultMinimum, protectionLevels } from '../../core/protection.ts'
import { networkKinds } from '../../core/network.ts'
import { runtimeNames, toolchainNames } from '../../core/request.ts'
import { environmentNameSchema } from '../../environments/read-spec.ts'
import { auditFailures } from '../../observe/audit-log.ts'
import { defaultUidRange } from '../../jail/machine/uid-range.ts'
import { defaultPoolSize } from '../../pool/shape.ts'
import type { Admit } from '../../policy/admit.ts'
import { higherLevel, lowerLimits } from '../../policy/narrowing.ts'
import type { Narrowing } from '../../policy/narrowing.ts'
import { breakerFields, clockSchema, queueFields, rateFields } from '../../policy/policy-options.ts'
import { ruleSchema } from '../../policy/network/network-schema.ts'
import { isFolder, readableFolders } from '../../policy/readable-folders.ts'
import { limitsSchema, preloadOptionSchema } from '../../policy/schemas.ts'
import type { CodeOptionName, LazaretEvent, LazaretOptions } from './options.ts'

/** Reads a path of the host. In a file it may be relative. */
export type PathSchema = z.ZodType<string, string>

/** An option that a configuration file can contain. */
export interface PlainOption<Value> {
  readonly schema: (path: PathSchema) => z.ZodType<Read<Value>>
  readonly usual: Value
  /**
   * Which configuration files may set it. `trusted`: only the trusted file, because the option widens access or names
   * programs. A narrowing: also found files, but only if the value narrows.
   */
  readonly files: 'trusted' | Narrowing<Value>
}

/** An option that only the caller's code can set. */
export interface CodeOption<Value> {
  readonly schema: () => z.ZodType<Value>
  readonly files: 'none'
}

/** The type of zod's output: an optional key may also be present with the value `undefined`. */
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
const packageFoldersMax = 16
const poolCount = z.int().min(0).max(256)
/** The last 32-bit id means "no id" to the kernel. */
const idsEnd = 2 ** 32 - 1

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
  packages: {
    schema: (path) => {
      const folder = path.refine(isFolder, { error: 'is not a folder' })
      return z.strictObject({
        python: z.array(folder).max(packageFoldersMax).optional(),
        node: folder.optional(),
      })
    },
    usual: {},
    files: 'trusted',
  },
  environments: {
    schema: (path) =>
      z.strictObject({
        folder: path.optional(),
        packageHosts: z.array(ruleSchema).max(256).optional(),
        bytesMax: z
          .int()
          .min(1024 * 1024)
          .max(2 ** 40)
          .optional(),
      }),
    usual: {},
    files: 'trusted',
  },
  pools: {
    schema: () =>
      z.partialRecord(
        z.enum(runtimeNames),
        z
          .strictObject({
            min: poolCount.optional(),
            max: poolCount.optional(),
            forks: z.union([z.boolean(), z.literal('client')]).optional(),
          })
          .refine(({ min = 0, max = defaultPoolSize.max }) => min <= max, {
            error: 'min must not be above max',
          }),
      ),
    usual: {},
    files: 'trusted',
  },
  preload: { schema: () => preloadOptionSchema, usual: [], files: 'trusted' },
  access: {
    schema: (path) =>
      z.strictObject({
        networks: z.array(z.enum(networkKinds)).optional(),
        preload: z.boolean().optional(),
        env: z.boolean().optional(),
        workspaces: z.array(path).max(foldersMax).optional(),
        readable: z.array(path).max(foldersMax).optional(),
        environments: z.array(environmentNameSchema).max(foldersMax).optional(),
      }),
    usual: {},
    files: 'trusted',
  },
  queue: {
    schema: () =>
      z.strictObject({
        ...queueFields,
        memoryTotalBytes: limitsSchema.shape.memoryBytes.optional(),
        heldBytesMax: z.int().min(1).optional(),
      }),
    usual: {},
    files: 'trusted',
  },
  rate: {
    schema: () => z.union([z.literal(false), z.strictObject(rateFields)]),
    usual: false,
    files: 'trusted',
  },
  breaker: {
    schema: () => z.union([z.literal(false), z.strictObject(breakerFields)]),
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
    schema: () => clockSchema,
    files: 'none',
  },
}

/** The table as a list of rows. */
export const optionRows = Object.entries(optionTable) as readonly (readonly [
  OptionName,
  PlainOption<unknown> | CodeOption<unknown>,
])[]
