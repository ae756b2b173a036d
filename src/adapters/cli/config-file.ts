/** `lazaret.config.json`: the options of `createLazaret()`, kept beside a project. */
import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { defaultLimits, type LimitName } from '../../core/limits.ts'
import { protectionLevels } from '../../core/protection.ts'
import type { LazaretOptions } from '../../engine/options.ts'
import { wording } from '../../policy/schemas.ts'
import { describeSystemError } from './system-error.ts'
import { UsageError } from './usage-error.ts'

const fileName = 'lazaret.config.json'

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

/**
 * Reads the file that the user named, else the nearest `lazaret.config.json` from `folder` upwards, else nothing.
 * Paths in it are relative to the file.
 */
export async function loadConfig(named: string | undefined, folder: string): Promise<LazaretOptions> {
  if (named !== undefined) {
    const path = resolve(folder, named)
    const text = await readIfThere(path)
    if (text === undefined) {
      throw new UsageError(`cannot read ${named}: no such file.`, 'Check the path given to --config.')
    }
    return parseConfig(text, path)
  }
  for (let current = resolve(folder); ; current = dirname(current)) {
    const path = join(current, fileName)
    const text = await readIfThere(path)
    if (text !== undefined) return parseConfig(text, path)
    if (dirname(current) === current) return {}
  }
}

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

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw new UsageError(
      `cannot read ${path}: ${describeSystemError(error) ?? String(error)}.`,
      'Check the file.',
    )
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new UsageError(`${path} is not JSON: ${(error as SyntaxError).message}.`, 'Fix or remove the file.')
  }
}

function checkConfig(value: unknown, path: string): z.infer<typeof configSchema> {
  const parsed = configSchema.safeParse(value, { error: wording })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path: keys, message }) =>
    keys.length === 0 ? message : `${keys.join('.')}: ${message}`,
  )
  throw new UsageError(
    `${path}: ${problems.join('; ')}.`,
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
