/** Checks requests for a warm-up. */
import { z } from 'zod'

import { LazaretError } from '../core/errors/errors.ts'
import type { Limits } from '../core/limits.ts'
import { once } from '../core/once.ts'
import { languages, realms, runtimeNames } from '../core/request.ts'
import type { Network } from '../core/network.ts'
import type { Language, Realm, RuntimeName } from '../core/request.ts'
import { environmentNameSchema } from '../environments/read-spec.ts'
import { checkRealm } from './options/check-realm.ts'
import { clientSchema } from './options/parse-request.ts'
import { readInput } from '../policy/hostile-input.ts'
import { networkSchema } from '../policy/network/network-schema.ts'
import { checkPreload, describeIssues, limitsSchema, parsing, preloadSchema } from '../policy/schemas.ts'

/** Runs of this kind will find parked workers. The fields are those of the later requests. */
export interface WarmUpRequest {
  readonly language: Language
  readonly runtime?: RuntimeName
  readonly realm?: Realm
  readonly network?: Network
  readonly limits?: Partial<Limits>
  readonly preload?: readonly string[]
  readonly environment?: string
  /** Whose runs, where `pools` gives each client its own interpreter. */
  readonly client?: string
  /** How many, within the limits of `pools`. Default 1. */
  readonly count?: number
}

const schema = once(() =>
  z
    .strictObject({
      language: z.enum(languages),
      runtime: z.enum(runtimeNames).optional(),
      realm: z.enum(realms).optional(),
      network: networkSchema.optional(),
      limits: limitsSchema.optional(),
      preload: preloadSchema.optional(),
      environment: environmentNameSchema.optional(),
      client: clientSchema.optional(),
      count: z.int().min(1).max(256).optional(),
    })
    .superRefine(checkRealm)
    .superRefine(checkPreload),
)

/** Throws INVALID_REQUEST. */
export function parseWarmUp(input: WarmUpRequest): WarmUpRequest {
  const parsed = readInput(() => schema().safeParse(input, parsing))
  if (parsed.success) return parsed.data as WarmUpRequest
  throw new LazaretError('INVALID_REQUEST', { detail: `warmUp: ${describeIssues(parsed.error)}.` })
}
