/** What to warm up, checked. */
import { z } from 'zod'

import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import { languages, networkModes, realms, runtimeNames } from '../core/request.ts'
import type { Language, NetworkMode, Realm, RuntimeName } from '../core/request.ts'
import { checkRealm } from './check-realm.ts'
import { readInput } from '../policy/hostile-input.ts'
import { describeIssues, limitsSchema, preloadSchema, wording } from '../policy/schemas.ts'

/** Runs of this kind will find workers waiting. The fields are those of the requests that are to come. */
export interface WarmUpRequest {
  readonly language: Language
  readonly runtime?: RuntimeName
  readonly realm?: Realm
  readonly network?: NetworkMode
  readonly limits?: Partial<Limits>
  readonly preload?: readonly string[]
  /** How many; as far as `pools` allows. Default 1. */
  readonly count?: number
}

const schema = z
  .strictObject({
    language: z.enum(languages),
    runtime: z.enum(runtimeNames).optional(),
    realm: z.enum(realms).optional(),
    network: z.enum(networkModes).optional(),
    limits: limitsSchema.optional(),
    preload: preloadSchema.optional(),
    count: z.int().min(1).max(256).optional(),
  })
  .superRefine(checkRealm)

/** Throws INVALID_REQUEST. */
export function parseWarmUp(input: WarmUpRequest): WarmUpRequest {
  const parsed = readInput(() => schema.safeParse(input, { error: wording }))
  if (parsed.success) return parsed.data as WarmUpRequest
  throw new LazaretError('INVALID_REQUEST', { detail: `warmUp: ${describeIssues(parsed.error)}.` })
}
