/**
 * One row a limit: who holds it, best first, and what it takes to have it held. The name that the receipt will say and
 * the figures that are sent come from the same holder, so one cannot be without the other. Pure.
 */
import type { LimitMechanism, LimitName } from '../../core/limits.ts'
import type { Protection } from '../../core/protection.ts'
import { diskRoom } from './disk.ts'
import type { DiskRoom } from './disk.ts'
import { both, resource } from './rlimits.ts'
import type { Rlimit } from './rlimits.ts'
import { socketBytesMax } from './socket-memory.ts'

/** What holding a limit depends on. */
export interface LimitGround {
  /** `wasm` is a snippet's thread, which has no cell. */
  readonly level: Protection
  readonly cgroupVersion: 1 | 2 | null
  /** Whether guests have ids of their own, or are counted together with everything that the service's user runs. */
  readonly identity: 'own' | 'shared'
  /** A fork of a zygote, or a command of a sandbox: other spaces of its cell have the same users. */
  readonly isInSpace?: boolean
}

/** What the figures depend on besides. */
export interface LimitFigures {
  /** The host's own hard rlimits; nobody may go above them. */
  readonly openFilesHard: number
  readonly processesHard: number
  /** The machine's budget for sockets, see socket-memory.ts. */
  readonly tcpMem: string
  /** What the runtime reserves before it runs anything. Default 0. */
  readonly runtimeDataBytes?: number
  /** How many spaces the kernel counts in one where each has a limit of its own. Default 1. */
  readonly spacesOfOneId?: number
  /** For whoever shares an id with others and is to come after them. */
  readonly pendingSignalsMax?: number
}

export interface Situation {
  readonly ground: LimitGround
  readonly figures: LimitFigures
}

/** What is written into a cgroup's files. */
export interface CgroupFigures {
  readonly memoryBytes: number
  /** Processes and threads. */
  readonly tasksMax: number
}

/** For the watchdog; null where something better holds the limit. */
export interface Watched {
  readonly memoryBytes: number | null
  readonly cpuMs: number | null
  /** What may wait in sockets that no cgroup charges, out of a budget of the whole machine: see socket-memory.ts. */
  readonly socketBytes: number | null
  /** Processes and threads, where the kernel counts them together with others'. */
  readonly tasksMax: number | null
}

/** For a process of ours. */
export const unwatched: Watched = { memoryBytes: null, cpuMs: null, socketBytes: null, tasksMax: null }

/** What one limit needs to be held; rows add up. */
export interface Settings {
  readonly cgroup?: Partial<CgroupFigures>
  readonly rlimits?: readonly Rlimit[]
  readonly watched?: Partial<Watched>
  readonly wallMs?: number
  readonly outputBytes?: number
  readonly disk?: DiskRoom
}

interface Holder {
  readonly by: LimitMechanism
  /** Whether the ground has it. The last holder of a row is there on every ground of a cell. */
  readonly where: (ground: LimitGround) => boolean
  readonly sets: (value: number, situation: Situation) => Settings
}

export interface LimitRow {
  /** Who holds it for a snippet. A thread never waits, so that its time is processor time. */
  readonly thread: 'host' | 'wasm'
  /** Who holds it for a program in an isolate, where that is not who holds it for the worker that makes isolates. */
  readonly isolate?: 'host' | 'isolate'
  /** Who holds it for a guest in a cell, best first. */
  readonly cell: readonly Holder[]
  /** Held by what a process can lower and never raise: a worker is started with the most that its runs may have. */
  readonly isOnlyLowered?: true
}

const always = (): boolean => true
const hasCgroup = ({ cgroupVersion }: LimitGround): boolean => cgroupVersion !== null
const hasNamespaces = ({ level }: LimitGround): boolean => level === 'strong' || level === 'standard'

/** The host counts or looks by itself, where it makes use of the value; nothing is sent. */
const heldByHost: LimitRow = { thread: 'host', cell: [{ by: 'host', where: always, sets: () => ({}) }] }

export const limitRows: Readonly<Record<LimitName, LimitRow>> = {
  wallMs: {
    thread: 'host',
    isolate: 'host',
    cell: [{ by: 'cell', where: always, sets: (wallMs) => ({ wallMs }) }],
  },
  cpuMs: {
    thread: 'host',
    isolate: 'host',
    cell: [
      { by: 'cgroup', where: hasCgroup, sets: (value) => ({ rlimits: [cpuBackstop(value)] }) },
      {
        by: 'watchdog',
        where: always,
        sets: (cpuMs) => ({ watched: { cpuMs }, rlimits: [cpuBackstop(cpuMs)] }),
      },
    ],
  },
  memoryBytes: {
    thread: 'wasm',
    isolate: 'isolate',
    isOnlyLowered: true,
    cell: [
      {
        by: 'cgroup',
        where: hasCgroup,
        sets: (memoryBytes, situation) => ({
          cgroup: { memoryBytes },
          watched: watchSockets(memoryBytes, situation),
        }),
      },
      {
        by: 'watchdog',
        where: always,
        sets: (memoryBytes, situation) => ({
          watched: { memoryBytes, ...watchSockets(memoryBytes, situation) },
          rlimits: [
            both(resource.data, (situation.figures.runtimeDataBytes ?? 0) + dataFactor * memoryBytes),
          ],
        }),
      },
    ],
  },
  processesMax: {
    thread: 'wasm',
    isOnlyLowered: true,
    cell: [
      {
        by: 'cgroup',
        where: hasCgroup,
        // The cgroup should say no first, because it keeps the evidence.
        sets: (most, situation) => ({
          cgroup: { tasksMax: most + pid1Processes },
          rlimits: [limitTasks((situation.figures.spacesOfOneId ?? 1) * most + 16, situation)],
        }),
      },
      {
        by: 'rlimit',
        where: isCountedAlone,
        sets: (most, situation) => ({ rlimits: [limitTasks(countPid1(most, situation.ground), situation)] }),
      },
      {
        by: 'watchdog',
        where: always,
        sets: (most, situation) => {
          const tasksMax = countPid1(most, situation.ground)
          return { watched: { tasksMax }, rlimits: [limitTasks(tasksMax, situation)] }
        },
      },
    ],
  },
  openFilesMax: {
    thread: 'wasm',
    isOnlyLowered: true,
    cell: [
      {
        by: 'rlimit',
        where: always,
        sets: (most, { figures }) => ({
          rlimits: [both(resource.openFiles, Math.min(most, figures.openFilesHard))],
        }),
      },
    ],
  },
  diskBytes: {
    thread: 'wasm',
    isOnlyLowered: true,
    cell: [
      { by: 'tmpfs', where: hasNamespaces, sets: limitDisk },
      { by: 'watchdog', where: always, sets: limitDisk },
    ],
  },
  outputBytes: {
    thread: 'host',
    isolate: 'host',
    cell: [{ by: 'cell', where: always, sets: (outputBytes) => ({ outputBytes }) }],
  },
  codeBytes: heldByHost,
  inputBytes: heldByHost,
  resultBytes: heldByHost,
  functionCallsMax: heldByHost,
  functionMs: heldByHost,
  hostMs: heldByHost,
}

/** A backstop well above the limit itself, which is held by what counts every process together. */
function cpuBackstop(cpuMs: number): Rlimit {
  const soft = Math.ceil(cpuMs / 1000) + 1
  return { resource: resource.cpu, soft, hard: soft + 2 }
}

/** Whatever holds memory: no cgroup charges all that waits in sockets. */
function watchSockets(memoryBytes: number, { figures }: Situation): Pick<Watched, 'socketBytes'> {
  return { socketBytes: socketBytesMax(memoryBytes, figures.tcpMem) }
}

/**
 * Engines ask for the double of what they hold when a table grows, and use it later or never. The watchdog, which
 * counts what is used, should step in first, because then it is known what happened; this is what stops a process
 * that is faster than the watchdog.
 */
const dataFactor = 2

/** Pid 1 of the cell is in the guests' cgroup. */
const pid1Processes = 1

/** Where guests have no ids of their own, a pid 1 in namespaces has theirs and is counted with them. */
function countPid1(most: number, ground: LimitGround): number {
  return ground.identity === 'shared' && hasNamespaces(ground) ? most + pid1Processes : most
}

/**
 * The kernel counts processes by user namespace and uid. Without an id of its own, a guest is in one count with the other
 * spaces of its cell, and without a user namespace with everything that the service runs: a limit for one guest would be
 * used up by its neighbours.
 */
function isCountedAlone(ground: LimitGround): boolean {
  return ground.identity === 'own' || (hasNamespaces(ground) && ground.isInSpace !== true)
}

/** Far above what neighbours take together: it only stops what is faster than the watchdog. */
const roomForAll = 8192

function limitTasks(most: number, { ground, figures }: Situation): Rlimit {
  if (isCountedAlone(ground)) return both(resource.processes, most)
  if (!hasNamespaces(ground)) return { ...both(resource.processes, most + roomForAll), isBesideOthers: true }
  return both(resource.processes, Math.min(most + roomForAll, figures.processesHard))
}

/** One file can take all of it, and no more. */
function limitDisk(diskBytes: number): Settings {
  return { disk: diskRoom(diskBytes), rlimits: [both(resource.fileSize, diskBytes)] }
}
