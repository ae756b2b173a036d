/**
 * Rlimits: per-process bounds, the second line behind cgroups and the first where there are none.
 * Does not stop: many processes that each stay below the bound. RLIMIT_AS is never used: V8 and JSC reserve far more address
 * space than they touch. RLIMIT_CPU never equals the CPU limit: two threads burn it twice as fast.
 * Source: getrlimit(2), asm-generic/resource.h.
 */
import type { Limits } from '../core/limits.ts'
import type { CellIdentity } from './shape.ts'

export interface Rlimit {
  readonly resource: number
  readonly soft: number
  readonly hard: number
}

const resource = {
  cpu: 0,
  fileSize: 1,
  data: 2,
  core: 4,
  processes: 6,
  openFiles: 7,
  locked: 8,
  pendingSignals: 11,
  queues: 12,
  nice: 13,
  realtime: 14,
}

export interface RlimitGround {
  readonly identity: CellIdentity['kind']
  readonly memoryHeldByCgroup: boolean
  /** Whether pid 1 is among the processes that the kernel counts with the guests'. */
  readonly isPid1Counted: boolean
  /** What the runtime reserves before it runs anything. */
  readonly runtimeDataBytes: number
  /** The host's own hard limit on open files; nobody may go above it. */
  readonly openFilesHard: number
  /** The kernel counts them by id; whoever shares one with others and is to come after them needs more than they. */
  readonly pendingSignalsMax?: number
}

/**
 * POSIX timers and queued signals. Enough for a timer a thread, where the kernel’s own default is tens of thousands: all
 * timers of a machine lie in one table, and finding a place in it takes longer the more there are.
 */
export const pendingSignalsMax = 1024

const both = (number: number, value: number): Rlimit => ({ resource: number, soft: value, hard: value })

/**
 * No core file fits into one byte. Not 0: where the host pipes cores to a program (apport, systemd-coredump) the kernel
 * would start it, as root and outside the cell, for every guest that crashes; at exactly 1 it does not. That a guest
 * keeps the 1 is for the filter to see to (seccomp/argument-rules.ts). Source: do_coredump() in fs/coredump.c.
 */
const coreBytes = 1

/** For our own reader of files in a cell: it opens one folder below another and starts nothing. */
export const collectorRlimits: readonly Rlimit[] = [
  both(resource.core, coreBytes),
  both(resource.fileSize, 0),
  both(resource.openFiles, 128),
  both(resource.processes, 0),
]

/** For the sandbox owner's file operations: the same, but they write. */
export function planFileRlimits(diskBytes: number): Rlimit[] {
  const others = collectorRlimits.filter((rlimit) => rlimit.resource !== resource.fileSize)
  return [...others, both(resource.fileSize, diskBytes)]
}

/**
 * Engines ask for the double of what they hold when a table grows, and use it later or never. The watchdog, which
 * counts what is used, should step in first, because then it is known what happened; this is what stops a process
 * that is faster than the watchdog.
 */
const dataFactor = 2

export function planRlimits(limits: Limits, ground: RlimitGround): Rlimit[] {
  const plan = [
    both(resource.core, coreBytes),
    both(resource.fileSize, limits.diskBytes),
    both(resource.openFiles, Math.min(limits.openFilesMax, ground.openFilesHard)),
    both(resource.processes, processesMax(limits, ground)),
    both(resource.locked, 64 * 1024),
    both(resource.pendingSignals, ground.pendingSignalsMax ?? pendingSignalsMax),
    both(resource.queues, 819_200),
    both(resource.nice, 0),
    both(resource.realtime, 0),
  ]
  if (!ground.memoryHeldByCgroup)
    plan.push(both(resource.data, ground.runtimeDataBytes + dataFactor * limits.memoryBytes))
  if (limits.cpuMs !== null) {
    // A backstop well above the limit itself, which is held by what counts every process together.
    const soft = Math.ceil(limits.cpuMs / 1000) + 1
    plan.push({ resource: resource.cpu, soft, hard: soft + 2 })
  }
  return plan
}

function processesMax(limits: Limits, { identity, memoryHeldByCgroup, isPid1Counted }: RlimitGround): number {
  // The cgroup should say no first, because it keeps the evidence.
  if (memoryHeldByCgroup) return limits.processesMax + 16
  // At `standard` pid 1 has the guests' uid and is counted with them.
  return identity === 'shared' && isPid1Counted ? limits.processesMax + 1 : limits.processesMax
}
