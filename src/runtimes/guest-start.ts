/** What a guest is started with, and what changes for one that was started ahead of its run. */
import type { Limits } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import type { BeginSpec, HeldLimits, SpawnSpec } from '../jail/guest-process.ts'
import type { LeasedGround, Machine } from '../jail/machine.ts'
import { sizedMounts } from '../jail/mounts.ts'
import type { Place } from '../jail/place.ts'
import { planRlimits } from '../jail/rlimits.ts'
import type { Rlimit } from '../jail/rlimits.ts'
import { socketBytesMax } from '../jail/socket-memory.ts'
import type { Zygote } from '../jail/zygote-cell.ts'
import { inodesMax } from '../jail/tmpfs.ts'
import type { Program } from './runtime.ts'

/** Where guests are started. */
export interface GuestGround {
  readonly machine: Machine
  readonly ground: LeasedGround
  readonly place: Place
  /** The guest is a fork of it. */
  readonly zygote?: Zygote | undefined
}

/** What is to run. Prepared for a parked worker's place, the program differs in files and request alone. */
export interface Task {
  readonly program: Program
  readonly request: RunRequest
  /** For a parked worker not above those that it was started with, where rlimits hold them. */
  readonly limits: Limits
}

/** A guest whose run begins at once. */
export function startSpec({ program, request, limits }: Task, on: GuestGround): SpawnSpec {
  return {
    ...commonSpec(program, limits, on),
    ...(request.stdin === undefined ? {} : { stdin: stdinBytes(request) }),
    ...heldLimits(limits, on),
  }
}

/** A guest that waits for its run. Until then it has these limits and no deadline. */
export function parkSpec(program: Program, limits: Limits, on: GuestGround): SpawnSpec {
  return {
    ...commonSpec(program, limits, on),
    stdin: 'later',
    ...heldLimits({ ...limits, cpuMs: null }, on),
    wallMs: 0,
  }
}

/** Its run; `parked` are the limits that it was started with. */
export function beginSpec(
  { program, request, limits, parked }: Task & { readonly parked: Limits },
  on: GuestGround,
): BeginSpec {
  const { place, ground, zygote } = on
  // It counts processes itself where the kernel's count has those of other runs in it too: see limits.c.
  const countsProcesses = place.work !== null || (zygote !== undefined && ground.identity.kind === 'shared')
  const rlimits = rlimitNames.every((name) => limits[name] === parked[name])
    ? []
    : rlimitsThatDiffer(rlimitsOf(program, parked, on), rlimitsOf(program, limits, on))
  const isResized = limits.diskBytes !== parked.diskBytes
  return {
    ...heldLimits(limits, on),
    // Where a limit is counted by the cell, it forgets what it was told before.
    rlimits: countsProcesses ? rlimitsOf(program, limits, on) : rlimits,
    stdin: stdinBytes(request),
    work:
      place.work === null ? null : { bytesMax: limits.diskBytes, entriesMax: inodesMax(limits.diskBytes) },
    resized: place.work === null && isResized ? sizedMounts(place, limits.diskBytes) : [],
  }
}

/** The limits that rlimits are made of. */
const rlimitNames = ['memoryBytes', 'processesMax', 'openFilesMax', 'diskBytes', 'cpuMs'] as const

function rlimitsThatDiffer(before: readonly Rlimit[], now: readonly Rlimit[]): Rlimit[] {
  const known = new Set(before.map((one) => JSON.stringify(one)))
  return now.filter((one) => !known.has(JSON.stringify(one)))
}

function commonSpec(program: Program, limits: Limits, on: GuestGround) {
  return {
    file: program.file,
    argv: program.argv,
    env: program.env,
    folder: on.place.workspace,
    rlimits: rlimitsOf(program, limits, on),
    hasChannel: program.guestRequest !== undefined,
    isFork: on.zygote !== undefined,
  }
}

function stdinBytes({ stdin = '' }: RunRequest): Uint8Array {
  return typeof stdin === 'string' ? Buffer.from(stdin) : stdin
}

function heldLimits(limits: Limits, { ground }: GuestGround): HeldLimits {
  return {
    outputBytes: limits.outputBytes,
    wallMs: limits.wallMs,
    watched: {
      socketBytes: socketBytesMax(limits.memoryBytes),
      ...(ground.cgroup === null
        ? { memoryBytes: limits.memoryBytes, cpuMs: limits.cpuMs }
        : { memoryBytes: null, cpuMs: null }),
    },
  }
}

function rlimitsOf(
  program: Program,
  limits: Limits,
  { machine, ground, place, zygote }: GuestGround,
): Rlimit[] {
  return planRlimits(limits, {
    identity: ground.identity.kind,
    isPid1Counted: place.work === null,
    memoryHeldByCgroup: ground.cgroup !== null,
    runtimeDataBytes: program.baseDataBytes + (zygote?.dataBytes ?? 0),
    openFilesHard: machine.openFilesHard,
  })
}
