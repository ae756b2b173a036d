/** By what the limits of a sandbox's commands are held, and what starting one takes besides what it is. Pure. */
import type { Limits } from '../core/limits.ts'
import type { SpawnSpec } from '../jail/guest-process.ts'
import type { LimitFigures, LimitGround } from '../jail/limits/limit-rows.ts'
import { planLimits } from '../jail/limits/plan-limits.ts'
import type { LimitPlan } from '../jail/limits/plan-limits.ts'
import { pendingSignalsMax } from '../jail/limits/rlimits.ts'
import type { SpaceKind } from '../jail/plan-sandbox.ts'

export interface CommandGround {
  readonly limitGround: LimitGround
  readonly limitFigures: LimitFigures
  readonly kind: SpaceKind
}

export type CommonSpec = Pick<
  SpawnSpec,
  'rlimits' | 'adopts' | 'dropsExcess' | 'wallMs' | 'watched' | 'outputBytes'
>

const shellDataBytes = 3 * 1024 * 1024

export function holdCommands(limits: Limits, { limitGround, limitFigures, kind }: CommandGround): LimitPlan {
  const held = planLimits(limits, limitGround, {
    ...limitFigures,
    runtimeDataBytes: shellDataBytes,
    // Where a cgroup holds each, the kernel counts the processes of the user space and of secure ones in one, by uid.
    spacesOfOneId: 2,
    // As many again as the user space can take.
    ...(kind === 'secure' ? { pendingSignalsMax: 2 * pendingSignalsMax } : {}),
  })
  // A sandbox goes on as long as its owner likes: neither its time nor its processor time comes to an end.
  return { ...held, wallMs: 0, watched: { ...held.watched, cpuMs: null } }
}

export function commonSpec({ rlimits, watched, wallMs, outputBytes }: LimitPlan): CommonSpec {
  return { rlimits, watched, wallMs, outputBytes, adopts: true, dropsExcess: true }
}
