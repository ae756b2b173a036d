/** The limits of a sandbox, where they are not those of a run: a small machine runs more than one program. Pure. */
import type { Limits } from '../core/limits.ts'
import { resolveLimits } from './resolve-limits.ts'
import type { LimitRules, ResolvedLimits } from './resolve-limits.ts'

const MiB = 1024 * 1024
const sandboxDefaults = {
  processesMax: 256,
  openFilesMax: 1024,
  memoryBytes: 1024 * MiB,
  diskBytes: 512 * MiB,
}

export function resolveSandboxLimits(
  asked: Partial<Limits> = {},
  { defaults = {}, ceilings = {} }: Partial<LimitRules> = {},
): ResolvedLimits {
  return resolveLimits(asked, { defaults: { ...sandboxDefaults, ...defaults }, ceilings })
}
