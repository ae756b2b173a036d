/** The specification with which a guest is started, and the changes for a parked guest when its run begins. */
import type { Reservation } from '../../core/host-account.ts'
import type { Limits } from '../../core/limits.ts'
import type { RunHandles, RunSpec } from '../../core/request.ts'
import type { GuestSecrets } from '../../jail/edge/guest-secrets.ts'
import type { BeginSpec, SpawnSpec } from '../../jail/cell/guest-process.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import { planLimits } from '../../jail/limits/plan-limits.ts'
import type { Rlimit } from '../../jail/limits/rlimits.ts'
import type { LeasedGround, Machine } from '../../jail/machine/machine.ts'
import { sizedMounts } from '../../jail/plan/mounts.ts'
import type { Place } from '../../jail/plan/place.ts'
import type { Zygote } from '../../jail/cell/zygote-cell.ts'
import type { Program } from '../runtime.ts'

/** The place in which guests are started. */
export interface GuestGround {
  readonly machine: Pick<Machine, 'limitFigures'>
  readonly ground: Pick<LeasedGround, 'limitGround'>
  readonly place: Place
  /** Present if the guest is a fork. */
  readonly zygote?: Pick<Zygote, 'dataBytes' | 'forks'> | undefined
}

/** The parts of a request that stay on the host. */
export interface JobHandles extends RunHandles {
  readonly secrets?: GuestSecrets
}

/** One run as requested: the plain data, the caller's handles, and the limits in force. */
export interface Job {
  readonly spec: RunSpec
  /** Aborting the signal ends the run. */
  readonly handles: JobHandles & { readonly signal: AbortSignal }
  /** For a parked worker, limits that rlimits enforce must not exceed those with which it was started. */
  readonly limits: Limits
  /** Counts the output that is kept for it. */
  readonly outputRoom?: Reservation | undefined
}

/** A job with its program. For a parked worker, only the program's files and request belong to the job. */
export interface Task extends Job {
  readonly program: Program
}

/** A task with the mechanisms that enforce its limits. */
export interface HeldTask extends Pick<Task, 'program' | 'spec'> {
  readonly held: LimitPlan
}

export function holdLimits(program: Program, limits: Limits, { machine, ground, zygote }: GuestGround) {
  return planLimits(limits, ground.limitGround, {
    ...machine.limitFigures,
    runtimeDataBytes: program.baseDataBytes + (zygote?.dataBytes ?? 0),
  })
}

/** For a guest whose run begins at once. */
export function startSpec({ program, spec, held }: HeldTask, on: GuestGround): SpawnSpec {
  return {
    ...commonSpec(program, held, on),
    ...(spec.stdin === undefined ? {} : { stdin: stdinBytes(spec) }),
  }
}

/** The limits of a parked guest: those that can only be lowered later, and no deadline. */
export function holdParked(program: Program, limits: Limits, on: GuestGround): LimitPlan {
  return { ...holdLimits(program, { ...limits, cpuMs: null }, on), wallMs: 0 }
}

export function parkSpec(program: Program, held: LimitPlan, on: GuestGround): SpawnSpec {
  const folder = program.waitsIn ?? on.place.workspace
  return { ...commonSpec(program, held, on), folder, stdin: 'later' }
}

/** For the run of a parked guest. `parked` has the limits with which it was started. */
export function beginSpec(
  { spec, held }: HeldTask,
  parked: LimitPlan,
  { place }: Pick<GuestGround, 'place'>,
): BeginSpec {
  const { disk, by } = held
  const isResized = disk.bytesMax !== parked.disk.bytesMax
  return {
    ...heldByPid1(held),
    rlimits: rlimitsThatDiffer(parked.rlimits, held.rlimits),
    stdin: stdinBytes(spec),
    work: by.diskBytes === 'watchdog' ? disk : null,
    resized: by.diskBytes === 'tmpfs' && isResized ? sizedMounts(place, disk.bytesMax) : [],
  }
}

function rlimitsThatDiffer(before: readonly Rlimit[], now: readonly Rlimit[]): Rlimit[] {
  const known = new Set(before.map((one) => JSON.stringify(one)))
  return now.filter((one) => !known.has(JSON.stringify(one)))
}

function commonSpec(program: Program, held: LimitPlan, on: GuestGround) {
  return {
    file: program.file,
    argv: program.argv,
    env: program.env,
    folder: on.place.workspace,
    rlimits: held.rlimits,
    ...(program.guestRequest !== undefined && { channel: 'cell' as const }),
    isFork: on.zygote?.forks === true,
    ...heldByPid1(held),
  }
}

function heldByPid1({ outputBytes, wallMs, watched }: LimitPlan) {
  return { outputBytes, wallMs, watched }
}

function stdinBytes({ stdin = '' }: RunSpec): Uint8Array {
  return typeof stdin === 'string' ? Buffer.from(stdin) : stdin
}
