/** Checks the secrets that the edge of a network inserts into requests. */
import { z } from 'zod'

import { secretPlaces } from '../../core/secrets.ts'
import type { EdgeSecrets } from '../../core/secrets.ts'
import { parseSecretHost } from '../../jail/edge/secrets/secret-hosts.ts'

const secretsMax = 32
const hostsMax = 32
const hostLengthMax = 300

function explainBadHost(text: string): string | undefined {
  try {
    parseSecretHost(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const hostSchema = z
  .string()
  .max(hostLengthMax)
  .refine((text) => explainBadHost(text) === undefined, {
    error: (issue) => explainBadHost(issue.input as string),
  })

const secretSchema = z.strictObject({
  // A line end would begin another header; a shorter value would be masked in places where it is not a secret.
  value: z
    .string()
    .regex(/^[\x20-\x7e]{8,4096}$/, { error: 'is not 8 to 4096 characters of printable ASCII' }),
  hosts: z.array(hostSchema).min(1).max(hostsMax),
  in: z.array(z.enum(secretPlaces)).min(1).optional(),
})

export const secretsSchema: z.ZodType<EdgeSecrets> = z
  .record(
    z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, { error: 'is not the name of a variable' }),
    secretSchema,
  )
  .refine((secrets) => Object.keys(secrets).length <= secretsMax, {
    error: `must have at most ${secretsMax} members`,
  })
