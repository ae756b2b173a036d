/** Checks the options of `createLazaret()` and fills in the defaults, as the table of options says. */
import { z } from 'zod'

import { LazaretError } from '../../core/errors/errors.ts'
import { readInput } from '../../policy/hostile-input.ts'
import { absolutePath, describeIssues, parsing } from '../../policy/schemas.ts'
import { optionRows } from './option-table.ts'
import type { LazaretOptions, ParsedOptions } from './options.ts'

/** Throws INVALID_REQUEST that names the option. */
export function parseOptions(options: LazaretOptions): ParsedOptions {
  const parsed = readInput(() => {
    const quick = schemaOf(optionRows.filter(([name]) => isGiven(options, name))).safeParse(options, parsing)
    // A failure is described with the schema of all options, because its messages list the options that exist.
    return quick.success ? quick : schemaOf(optionRows).safeParse(options, parsing)
  })
  if (parsed.success) return { ...usual, ...parsed.data } as unknown as ParsedOptions
  throw new LazaretError('INVALID_REQUEST', {
    detail: `Options: ${describeIssues(parsed.error)}.`,
    hint: 'See LazaretOptions for the keys and their units.',
  })
}

const usual = Object.fromEntries(
  optionRows.flatMap(([name, option]) => (option.files === 'none' ? [] : [[name, option.usual]])),
)

/** Most options are left out, and building the schemas of all takes longer than checking those that are given. */
function isGiven(options: unknown, name: string): boolean {
  return typeof options === 'object' && options !== null && name in options
}

function schemaOf(rows: typeof optionRows): z.ZodType<object> {
  return z.strictObject(
    Object.fromEntries(
      rows.map(([name, option]) => [
        name,
        option.files === 'none'
          ? option.schema().optional()
          : option.schema(absolutePath).default(() => option.usual),
      ]),
    ),
  )
}
