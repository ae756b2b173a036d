/** What enforces the limits of a sandbox's commands, and what the start of a command needs. Pure. */
import type { Limits } from '../../core/limits.ts'
import type { SpawnSpec } from '../../jail/cell/guest-process.ts'
import type { LimitFigures, LimitGround } from '../../jail/limits/limit-rows.ts'
import { planLimits } from '../../jail/limits/plan-limits.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import { filesMaxOf, openFilesSoft, readFileMax } from '../../jail/limits/open-files.ts'
import { pendingSignalsMax } from '../../jail/limits/rlimits.ts'
import type { SpaceKind } from '../../jail/plan/plan-sandbox.ts'

export interface CommandGround {
  readonly limitGround: LimitGround
  readonly limitFigures: LimitFigures
  readonly kind: SpaceKind
  /** Default: that of a shell. */
  readonly runtimeDataBytes?: number | undefined
}

export type CommonSpec = Pick<
  SpawnSpec,
  'rlimits' | 'adopts' | 'dropsExcess' | 'wallMs' | 'watched' | 'outputBytes'
>

/** Read once, because it hardly ever changes after boot. */
const fileMax = readFileMax()

const pendingSignalShares: Readonly<Record<SpaceKind, number>> = { user: 1, context: 2, secure: 3 }

const shellDataBytes = 3 * 1024 * 1024

export function holdCommands(limits: Limits, ground: CommandGround): LimitPlan {
  const { limitGround, limitFigures, kind, runtimeDataBytes = shellDataBytes } = ground
  const held = planLimits(limits, limitGround, {
    ...limitFigures,
    runtimeDataBytes,
    openFilesSoft,
    filesMax: filesMaxOf(fileMax),
    // Even if each space has its own cgroup, RLIMIT_NPROC counts the processes of all spaces together by uid: those of
    // the user space, of secure spaces and of code contexts.
    spacesOfOneId: 3,
    // RLIMIT_SIGPENDING counts by uid, too, so this includes what the spaces of earlier kinds can use.
    pendingSignalsMax: pendingSignalShares[kind] * pendingSignalsMax,
  })
  // The owner decides how long a sandbox exists, so neither its time nor its processor time is limited.
  return { ...held, wallMs: 0, watched: { ...held.watched, cpuMs: null } }
}

export function commonSpec({ rlimits, watched, wallMs, outputBytes }: LimitPlan): CommonSpec {
  return { rlimits, watched, wallMs, outputBytes, adopts: true, dropsExcess: true }
}
