/** Turns unknown input into an execution, or a refusal that names the field. */
import { z } from 'zod'

import { LazaretError } from '../../core/errors/errors.ts'
import { readInput } from '../../policy/hostile-input.ts'
import { signalSchema } from '../../policy/policy-options.ts'
import { parsing, sayIssues } from '../../policy/schemas.ts'
import { validatedLanguages } from '../../policy/validation/rules.ts'
import type { AgentExecution } from './agent-types.ts'
import { secondsSchema } from './read-options.ts'

const schema = z.strictObject({
  code: z.string(),
  language: z.enum(validatedLanguages),
  description: z.string().max(1000).optional(),
  clientId: z.string().max(256).optional(),
  timeoutSeconds: secondsSchema.optional(),
  signal: signalSchema.optional(),
})

/** Throws INVALID_REQUEST. */
export function readExecution(input: unknown): AgentExecution {
  const parsed = readInput(() => schema.safeParse(input, parsing))
  if (parsed.success) return parsed.data as AgentExecution
  throw new LazaretError('INVALID_REQUEST', { detail: sayIssues(parsed.error) })
}
