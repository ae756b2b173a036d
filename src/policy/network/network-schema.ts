/** The network of a request: a word, or a policy. */
import { z } from 'zod'

import { networkModes } from '../../core/network.ts'
import type { Network } from '../../core/network.ts'
import { explainBadRule, NetworkRules, portsMax } from '../../jail/edge/rules.ts'
import { timerMsMax } from '../../core/limits.ts'

const rulesMax = 256
const ruleLengthMax = 300

/** One rule of a policy. */
export const ruleSchema = z
  .string()
  .max(ruleLengthMax)
  .refine((text) => explainBadRule(text) === undefined, {
    error: (issue) => explainBadRule(issue.input as string),
  })

const policySchema = z
  .strictObject({
    allow: z.array(ruleSchema).max(rulesMax),
    deny: z.array(ruleSchema).max(rulesMax).optional(),
    connectionsMax: z.int().min(1).max(1024).optional(),
    bytesMax: z.int().min(1).max(Number.MAX_SAFE_INTEGER).optional(),
    connectMs: z.int().min(1).max(timerMsMax).optional(),
  })
  .refine(
    (policy) => policy.allow.some((text) => explainBadRule(text) !== undefined) || isWithinPorts(policy),
    {
      error: `names more than ${portsMax} ports`,
    },
  )

const isWithinPorts = ({ allow }: { readonly allow: readonly string[] }): boolean =>
  new NetworkRules({ allow }).ports.length <= portsMax

export const networkSchema: z.ZodType<Network> = z.union([z.enum(networkModes), policySchema])
