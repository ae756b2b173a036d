/**
 * The one authority for limits: what enforces each of them on a ground, and with which figures. The cgroup, the frames
 * that start a guest, its watchdog and its receipt all read this answer. Pure.
 */
import { limitNames, perLimit } from '../../core/limits.ts'
import type { LimitMechanism, LimitMechanisms, LimitName, Limits } from '../../core/limits.ts'
import { Remembered } from '../machine/remembered.ts'
import { diskRoom } from './disk.ts'
import type { DiskRoom } from './disk.ts'
import { limitRows, unwatched } from './limit-rows.ts'
import type { CgroupFigures, LimitFigures, LimitGround, Settings, Situation, Watched } from './limit-rows.ts'
import { constantRlimits, pendingSignalsMax } from './rlimits.ts'
import type { Rlimit } from './rlimits.ts'

export interface LimitPlan {
  /** For the receipt; `none` for an unset limit. */
  readonly by: LimitMechanisms
  /** Null if there is no cgroup. */
  readonly cgroup: CgroupFigures | null
  readonly rlimits: readonly Rlimit[]
  readonly watched: Watched
  /** Limits that pid 1 enforces on every ground. */
  readonly wallMs: number
  readonly outputBytes: number
  /** The size of a tmpfs, or what the watchdog lets into the run's folder on the host. */
  readonly disk: DiskRoom
}

/** Where a snippet runs. */
export const threadGround: LimitGround = { level: 'wasm', cgroupVersion: null, identity: 'shared' }

/** The limits that are always set. */
export type NumericLimit = { [Name in LimitName]: null extends Limits[Name] ? never : Name }[LimitName]

/** Limits with which a worker starts at the highest value that its runs may have. */
export const onlyLowered = limitNames.filter((name) => limitRows[name].isOnlyLowered) as NumericLimit[]

const knownMechanisms = new Map<string, LimitMechanisms>()

/**
 * The mechanism that enforces each limit on this ground. Called several times for each run, so the answers for the few
 * grounds are cached.
 */
export function limitMechanisms(ground: LimitGround): LimitMechanisms {
  const { level, cgroupVersion, identity, isInSpace = false, sharesId = false } = ground
  const key = `${level} ${cgroupVersion} ${identity} ${isInSpace} ${sharesId}`
  let mechanisms = knownMechanisms.get(key)
  if (mechanisms === undefined) {
    mechanisms = Object.freeze(perLimit((name) => mechanismOf(name, ground)))
    knownMechanisms.set(key, mechanisms)
  }
  return mechanisms
}

/** The mechanisms that enforce these limits on this ground; `none` for an unset limit. */
export function heldBy(limits: Limits, ground: LimitGround): LimitMechanisms {
  const mechanisms = limitMechanisms(ground)
  return perLimit((name) => (limits[name] === null ? 'none' : mechanisms[name]))
}

/** The same for a program in an isolate, whose worker is on this ground. */
export function heldByIsolate(limits: Limits, ground: LimitGround): LimitMechanisms {
  const ofWorker = limitMechanisms(ground)
  return perLimit((name) => (limits[name] === null ? 'none' : (limitRows[name].isolate ?? ofWorker[name])))
}

const plans = new Remembered<LimitPlan>()
const cgroups = new Remembered<CgroupFigures | null>()

/** Most runs have the same limits as the one before. */
export function planLimits(limits: Limits, ground: LimitGround, figures: LimitFigures): LimitPlan {
  return plans.get([limits, ground, figures], () => makePlan(limits, ground, figures))
}

function makePlan(limits: Limits, ground: LimitGround, figures: LimitFigures): LimitPlan {
  const parts = planParts(limits, ground, figures)
  return {
    by: heldBy(limits, ground),
    cgroup: cgroupFigures(parts),
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

/** The part of the plan that a cell's cgroup is made with. Null if there is no cgroup. */
export function planCgroup(limits: Limits, ground: LimitGround, figures: LimitFigures): CgroupFigures | null {
  if (ground.cgroupVersion === null) return null
  return cgroups.get([limits, ground, figures], () => cgroupFigures(planParts(limits, ground, figures)))
}

function planParts(limits: Limits, ground: LimitGround, figures: LimitFigures): Settings[] {
  const situation = { ground, figures }
  return limitNames.map((name) => settingsOf(name, limits[name], situation))
}

function cgroupFigures(parts: readonly Settings[]): CgroupFigures | null {
  const cgroup = Object.assign({}, ...parts.map((part) => part.cgroup)) as Partial<CgroupFigures>
  return isWhole(cgroup) ? cgroup : null
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
