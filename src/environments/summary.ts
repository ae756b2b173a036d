/**
 * Reads an installer's report: a line of JSON for each package. It is untrusted, because package code ran in the same
 * sandbox.
 */
import type { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'

/** Throws ENVIRONMENT_FAILED for an invalid line. */
export function readSummary<Row>(text: string, schema: z.ZodType<Row>): Row[] {
  const lines = text.split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const parsed = schema.safeParse(parseJson(line))
    if (parsed.success) return parsed.data
    throw new LazaretError('ENVIRONMENT_FAILED', {
      detail: `An installer reported an invalid package: ${JSON.stringify(line.slice(0, 100))}.`,
    })
  })
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
