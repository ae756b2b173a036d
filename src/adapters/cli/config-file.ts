/** What `lazaret.config.json` can say: the options of `createLazaret()`, as text. */
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { defaultLimits, type LimitName } from '../../core/limits.ts'
import { protectionLevels } from '../../core/protection.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import { wording } from '../../policy/schemas.ts'
import { toSingleLine } from './terminal-text.ts'
import { UsageError } from './usage-error.ts'

export const configFileName = 'lazaret.config.json'

const limitNames = Object.keys(defaultLimits) as [LimitName, ...LimitName[]]

const limitsSchema = z.strictObject({
  ...(Object.fromEntries(limitNames.map((name) => [name, z.int().positive().optional()])) as Record<
    Exclude<LimitName, 'cpuMs' | 'functionMs'>,
    z.ZodOptional<z.ZodInt>
  >),
  cpuMs: z.int().positive().nullable().optional(),
  functionMs: z.int().positive().nullable().optional(),
})

/** Only what a file can say: no functions, no clock. A key that is not here is an error, since a misspelt limit is no limit. */
const configSchema = z.strictObject({
  $schema: z.string().optional(),
  minimumProtection: z.enum(protectionLevels).optional(),
  defaults: limitsSchema.optional(),
  ceilings: limitsSchema.optional(),
  toolchains: z
    .strictObject({ node: z.string().optional(), bun: z.string().optional(), python: z.string().optional() })
    .optional(),
  readable: z.array(z.strictObject({ host: z.string(), guest: z.string() })).optional(),
  uidRange: z.strictObject({ first: z.int().positive(), count: z.int().positive() }).optional(),
  allowUnenforced: z.array(z.enum(limitNames)).optional(),
})

/** Checks the text of a config file and makes its paths absolute. */
export function parseConfig(text: string, path: string): LazaretOptions {
  const { $schema: _, ...config } = checkConfig(parseJson(text, path), path)
  const folder = dirname(path)
  const options = {
    ...config,
    ...(config.toolchains && { toolchains: mapValues(config.toolchains, (tool) => resolve(folder, tool)) }),
    ...(config.readable && {
      readable: config.readable.map(({ host, guest }) => ({ host: resolve(folder, host), guest })),
    }),
  }
  // What came out of JSON holds no `undefined`, which is all that separates zod's type from ours.
  return options as LazaretOptions
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // It quotes the text, which may be anybody's.
    const reason = toSingleLine((error as SyntaxError).message)
    throw new UsageError(`${path} is not JSON: ${reason}.`, 'Fix or remove the file.')
  }
}

function checkConfig(value: unknown, path: string): z.infer<typeof configSchema> {
  const parsed = configSchema.safeParse(value, { error: wording })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path: keys, message }) =>
    keys.length === 0 ? message : `${keys.join('.')}: ${message}`,
  )
  throw new UsageError(
    `${path}: ${toSingleLine(problems.join('; '))}.`,
    `Known keys: ${Object.keys(configSchema.shape).join(', ')}.`,
  )
}

function mapValues(
  record: Readonly<Record<string, string | undefined>>,
  change: (value: string) => string,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([key, value]) => (value === undefined ? [] : [[key, change(value)]])),
  )
}
