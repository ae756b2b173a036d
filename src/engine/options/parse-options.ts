/** Checks the options of `createLazaret()` and fills in the defaults, as the table of options says. */
import { z } from 'zod'

import { LazaretError } from '../../core/errors/errors.ts'
import { readInput } from '../../policy/hostile-input.ts'
import { absolutePath, describeIssues, wording } from '../../policy/schemas.ts'
import { optionRows } from './option-table.ts'
import type { LazaretOptions, ParsedOptions } from './options.ts'

/** Throws INVALID_REQUEST that names the option. */
export function parseOptions(options: LazaretOptions): ParsedOptions {
  const parsed = readInput(() => schemaFor(options).safeParse(options, { error: wording }))
  if (parsed.success) return { ...usual, ...parsed.data } as unknown as ParsedOptions
  throw new LazaretError('INVALID_REQUEST', {
    detail: `Options: ${describeIssues(parsed.error)}.`,
    hint: 'See LazaretOptions for the keys and their units.',
  })
}

const usual = Object.fromEntries(
  optionRows.flatMap(([name, option]) => (option.files === 'none' ? [] : [[name, option.usual]])),
)

/** Of the given options alone, because most are left out: building all of their schemas takes longer than checking them. */
function schemaFor(options: unknown): z.ZodType<object> {
  const isGiven = (name: string) => typeof options === 'object' && options !== null && name in options
  const given = optionRows.filter(([name]) => isGiven(name))
  return z.strictObject(
    Object.fromEntries(
      given.map(([name, option]) => [
        name,
        option.files === 'none'
          ? option.schema().optional()
          : option.schema(absolutePath).default(() => option.usual),
      ]),
    ),
  )
}
