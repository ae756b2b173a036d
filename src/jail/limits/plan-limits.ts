/**
 * The one authority for limits: who holds each of them on a ground, and with which figures. The cgroup, the frames that
 * start a guest, its watchdog and its receipt read this answer, and nobody decides it again. Pure.
 */
import { limitNames, perLimit } from '../../core/limits.ts'
import type { LimitMechanism, LimitMechanisms, LimitName, Limits } from '../../core/limits.ts'
import { diskRoom } from './disk.ts'
import type { DiskRoom } from './disk.ts'
import { limitRows, unwatched } from './limit-rows.ts'
import type { CgroupFigures, LimitFigures, LimitGround, Settings, Situation, Watched } from './limit-rows.ts'
import { constantRlimits, pendingSignalsMax } from './rlimits.ts'
import type { Rlimit } from './rlimits.ts'

export interface LimitPlan {
  /** For the receipt; `none` for a limit that nobody set. */
  readonly by: LimitMechanisms
  /** Null where no cgroup holds anything. */
  readonly cgroup: CgroupFigures | null
  readonly rlimits: readonly Rlimit[]
  readonly watched: Watched
  /** What pid 1 holds whatever the ground. */
  readonly wallMs: number
  readonly outputBytes: number
  /** The size of a tmpfs, or what the watchdog lets into the run's folder on the host. */
  readonly disk: DiskRoom
}

/** Where a snippet runs. */
export const threadGround: LimitGround = { level: 'wasm', cgroupVersion: null, identity: 'shared' }

/** Those that are always set. */
export type NumericLimit = { [Name in LimitName]: null extends Limits[Name] ? never : Name }[LimitName]

/** What a worker is started with the most of that its runs may have. */
export const onlyLowered = limitNames.filter((name) => limitRows[name].isOnlyLowered) as NumericLimit[]

/** What enforces each limit there, when it is set. */
export function limitMechanisms(ground: LimitGround): LimitMechanisms {
  return perLimit((name) => mechanismOf(name, ground))
}

/** By what these limits are held there; `none` for one that nobody set. */
export function heldBy(limits: Limits, ground: LimitGround): LimitMechanisms {
  return perLimit((name) => (limits[name] === null ? 'none' : mechanismOf(name, ground)))
}

/** The same for a program in an isolate, whose worker is on this ground. */
export function heldByIsolate(limits: Limits, ground: LimitGround): LimitMechanisms {
  const ofWorker = heldBy(limits, ground)
  return perLimit((name) => (limits[name] === null ? 'none' : (limitRows[name].isolate ?? ofWorker[name])))
}

export function planLimits(limits: Limits, ground: LimitGround, figures: LimitFigures): LimitPlan {
  const situation = { ground, figures }
  const parts = limitNames.map((name) => settingsOf(name, limits[name], situation))
  const cgroup = Object.assign({}, ...parts.map((part) => part.cgroup)) as Partial<CgroupFigures>
  return {
    by: heldBy(limits, ground),
    cgroup: isWhole(cgroup) ? cgroup : null,
    rlimits: [
      ...constantRlimits(figures.pendingSignalsMax ?? pendingSignalsMax),
      ...parts.flatMap((part) => part.rlimits ?? []),
    ],
    watched: Object.assign({}, unwatched, ...parts.map((part) => part.watched)) as Watched,
    wallMs: Math.max(0, ...parts.map((part) => part.wallMs ?? 0)),
    outputBytes: Math.max(0, ...parts.map((part) => part.outputBytes ?? 0)),
    disk: parts.find((part) => part.disk !== undefined)?.disk ?? diskRoom(0),
  }
}

/** A cgroup holds memory and processes, or there is none. */
function isWhole(figures: Partial<CgroupFigures>): figures is CgroupFigures {
  return figures.memoryBytes !== undefined && figures.tasksMax !== undefined
}

function mechanismOf(name: LimitName, ground: LimitGround): LimitMechanism {
  const { thread, cell } = limitRows[name]
  if (ground.level === 'wasm') return thread
  return cell.find(({ where }) => where(ground))?.by ?? 'none'
}

function settingsOf(name: LimitName, value: number | null, situation: Situation): Settings {
  if (value === null || situation.ground.level === 'wasm') return {}
  return limitRows[name].cell.find(({ where }) => where(situation.ground))?.sets(value, situation) ?? {}
}
