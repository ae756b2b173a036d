/** Checks the options of `createLazaret()` and fills in the defaults, as the table of options says. */
import { z } from 'zod'

import { LazaretError } from '../../core/errors/errors.ts'
import { readInput } from '../../policy/hostile-input.ts'
import { absolutePath, describeIssues, wording } from '../../policy/schemas.ts'
import { optionRows } from './option-table.ts'
import type { LazaretOptions, ParsedOptions } from './options.ts'

const schema = z.strictObject(
  Object.fromEntries(
    optionRows.map(([name, option]) => [
      name,
      option.files === 'none'
        ? option.schema().optional()
        : option.schema(absolutePath).default(() => option.usual),
    ]),
  ),
)

/** Throws INVALID_REQUEST that names the option. */
export function parseOptions(options: LazaretOptions): ParsedOptions {
  const parsed = readInput(() => schema.safeParse(options, { error: wording }))
  if (parsed.success) return parsed.data as unknown as ParsedOptions
  throw new LazaretError('INVALID_REQUEST', {
    detail: `Options: ${describeIssues(parsed.error)}.`,
    hint: 'See LazaretOptions for the keys and their units.',
  })
}
