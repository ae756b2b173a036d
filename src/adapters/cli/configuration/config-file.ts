/** The contents of `lazaret.config.json`: the options of `createLazaret()` that are plain data, see the table of options. */
import { dirname, resolve } from 'node:path'
import { z } from 'zod'
import { optionRows } from '../../../engine/options/option-table.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'
import { absolutePath, describeIssues, parsing } from '../../../policy/schemas.ts'
import { type ServeConfig, serveSchema } from '../serve-config.ts'
import { toSingleLine } from '../output/terminal-text.ts'
import { UsageError } from '../options/usage-error.ts'

/** The options of an engine, and those that only `lazaret serve` uses. */
export interface ConfigDocument extends LazaretOptions {
  readonly serve?: ServeConfig
}

/** Checks the text of the trusted file, and makes its paths absolute. */
export function parseConfig(text: string, path: string): ConfigDocument {
  return parse(text, path, (schema) => schema)
}

/**
 * The same for a file that was found in a folder. Options that it may not set are not checked, because a check may look
 * up paths, and here another user chose them.
 */
export function parseFoundConfig(text: string, path: string): ConfigDocument {
  return parse(text, path, (schema, files) => (files === 'trusted' ? z.unknown() : schema))
}

type CheckOf = (schema: z.ZodType, files: unknown) => z.ZodType

function parse(text: string, path: string, checkOf: CheckOf): ConfigDocument {
  const schema = createSchema(dirname(path), checkOf)
  const parsed = schema.safeParse(parseJson(text, path), parsing)
  if (!parsed.success)
    throw new UsageError(
      `${path}: ${toSingleLine(describeIssues(parsed.error))}.`,
      'docs/operate/configuration.md of the package describes every key.',
    )
  const { $schema: _, ...options } = parsed.data
  return options as ConfigDocument
}

/** Any other key is an error, because a misspelt limit would have no effect. */
function createSchema(folder: string, checkOf: CheckOf) {
  const path = z
    .string()
    .max(4096)
    .transform((written) => resolve(folder, written))
    .pipe(absolutePath)
  const checks = optionRows.flatMap(([name, option]) =>
    option.files === 'none' ? [] : [[name, checkOf(option.schema(path), option.files).optional()] as const],
  )
  const serve = checkOf(serveSchema, 'trusted').optional()
  return z.strictObject({ $schema: z.string().optional(), serve, ...Object.fromEntries(checks) })
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    // The error quotes the file, which another user may have written.
    const reason = toSingleLine((error as SyntaxError).message)
    throw new UsageError(`${path} is not JSON: ${reason}.`, 'Fix or remove the file.')
  }
}
