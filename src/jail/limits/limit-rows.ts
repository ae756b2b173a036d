/**
 * One row for each limit: what enforces it, best first, and what that needs. The name in the receipt and the figures
 * that are sent come from the same row entry, so they always agree. Pure.
 */
import type { LimitMechanism, LimitName } from '../../core/limits.ts'
import type { Protection } from '../../core/protection.ts'
import { diskRoom } from './disk.ts'
import type { DiskRoom } from './disk.ts'
import { both, resource } from './rlimits.ts'
import type { Rlimit } from './rlimits.ts'
import { socketBytesMax } from './socket-memory.ts'

/** What the choice of a mechanism depends on. */
export interface LimitGround {
  /** `wasm` is a snippet's thread, which has no cell. */
  readonly level: Protection
  readonly cgroupVersion: 1 | 2 | null
  /** Whether guests have their own ids, or are counted together with everything that the service's user runs. */
  readonly identity: 'own' | 'shared'
  /** A fork of a zygote, or a command of a sandbox: other spaces of its cell have the same users. */
  readonly isInSpace?: boolean
  /** A command of a sandbox: it has the same id as those in the sandbox's other spaces. */
  readonly sharesId?: boolean
}

/** What else the figures depend on. */
export interface LimitFigures {
  /** The host's own hard rlimits; no one may exceed them. */
  readonly openFilesHard: number
  readonly processesHard: number
  /** The machine's budget for sockets, see socket-memory.ts. */
  readonly tcpMem: string
  /** What the runtime reserves before it runs anything. Default 0. */
  readonly runtimeDataBytes?: number
  /** How many spaces the kernel counts together although each has its own limit. Default 1. */
  readonly spacesOfOneId?: number
  /** The soft limit with which each process starts, if it may raise it. Default: the limit itself. */
  readonly openFilesSoft?: number
  /** Open files of all processes together. Default: as many as the other limits allow. */
  readonly filesMax?: number | null
  /** Pending signals, if a guest has to leave room for other processes with the same id. */
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

/** The figure for the watchdog; null if something better enforces the limit. */
export interface Watched {
  readonly memoryBytes: number | null
  readonly cpuMs: number | null
  /**
   * How many bytes may wait in sockets that no cgroup charges, out of a budget of the whole machine: see
   * socket-memory.ts.
   */
  readonly socketBytes: number | null
  /** Processes and threads, if the kernel counts them together with others'. */
  readonly tasksMax: number | null
  /**
   * Open files of all processes together, if the limit of each is so high that together they could use up the
   * machine's.
   */
  readonly filesMax: number | null
}

/** For Lazaret's own processes. */
export const unwatched: Watched = {
  memoryBytes: null,
  cpuMs: null,
  socketBytes: null,
  tasksMax: null,
  filesMax: null,
}

/** What one limit needs to be enforced; rows add up. */
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
  /** Whether the ground offers this mechanism. The last mechanism of a row exists on every ground of a cell. */
  readonly where: (ground: LimitGround) => boolean
  readonly sets: (value: number, situation: Situation) => Settings
}

export interface LimitRow {
  /** What enforces it for a snippet. A thread never waits, so its time is processor time. */
  readonly thread: 'host' | 'wasm'
  /** What enforces it for a program in an isolate, if that differs from what enforces it for the worker. */
  readonly isolate?: 'host' | 'isolate'
  /** What enforces it for a guest in a cell, best first. */
  readonly cell: readonly Holder[]
  /**
   * Enforced by something that a process can lower but never raise: a worker starts with the most that its runs may
   * have.
   */
  readonly isOnlyLowered?: true
}

const always = (): boolean => true
const hasCgroup = ({ cgroupVersion }: LimitGround): boolean => cgroupVersion !== null
const hasNamespaces = ({ level }: LimitGround): boolean => level === 'strong' || level === 'standard'

/** The host enforces it itself, where it uses the value; nothing is sent. */
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
        // The cgroup should refuse first, because it keeps the evidence.
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
        // The watchdog counts the descendants of pid 1; the kernel counts pid 1 as well.
        sets: (most, situation) => ({
          watched: { tasksMax: most },
          rlimits: [limitTasks(countPid1(most, situation.ground), situation)],
        }),
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
        sets: (most, { figures }) => limitFiles(Math.min(most, figures.openFilesHard), figures),
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

/** A backstop well above the limit itself, which is enforced by something that counts all processes together. */
function cpuBackstop(cpuMs: number): Rlimit {
  const soft = Math.ceil(cpuMs / 1000) + 1
  return { resource: resource.cpu, soft, hard: soft + 2 }
}

/** On every ground, because no cgroup charges everything that waits in sockets. */
function watchSockets(memoryBytes: number, { figures }: Situation): Pick<Watched, 'socketBytes'> {
  return { socketBytes: socketBytesMax(memoryBytes, figures.tcpMem) }
}

/**
 * When a table grows, engines allocate twice its size, and use the memory later or never. The watchdog counts only used
 * memory. It should act first, because then the cause is known; this limit stops a process that is faster than the
 * watchdog.
 */
const dataFactor = 2

/** Pid 1 of the cell is in the guests' cgroup. */
const pid1Processes = 1

/** Where guests have no ids of their own, a pid 1 in namespaces has theirs and is counted with them. */
function countPid1(most: number, ground: LimitGround): number {
  return ground.identity === 'shared' && hasNamespaces(ground) ? most + pid1Processes : most
}

/**
 * The kernel counts processes by user namespace and uid. Without its own id, a guest is in one count with the other
 * spaces of its cell, and without a user namespace with everything that the service runs. The spaces of a sandbox have one
 * id together. A limit for one guest would be used up by its neighbours.
 */
function isCountedAlone(ground: LimitGround): boolean {
  if (ground.identity === 'own') return ground.sharesId !== true
  return hasNamespaces(ground) && ground.isInSpace !== true
}

/** Far above what all neighbours use together: it only stops processes that are faster than the watchdog. */
const roomForAll = 8192

function limitTasks(most: number, { ground, figures }: Situation): Rlimit {
  // With a cgroup, the figure has room for all spaces of the id.
  if (isCountedAlone(ground) || (ground.identity === 'own' && hasCgroup(ground)))
    return both(resource.processes, most)
  if (!hasNamespaces(ground)) return { ...both(resource.processes, most + roomForAll), isBesideOthers: true }
  return both(resource.processes, Math.min(most + roomForAll, figures.processesHard))
}

/** If processes may raise the limit, all of them are counted together. */
function limitFiles(hard: number, { openFilesSoft, filesMax = null }: LimitFigures): Settings {
  const soft = Math.min(hard, openFilesSoft ?? hard)
  return { rlimits: [{ resource: resource.openFiles, soft, hard }], watched: { filesMax } }
}

/** One file can take all of it, and no more. */
function limitDisk(diskBytes: number): Settings {
  return { disk: diskRoom(diskBytes), rlimits: [both(resource.fileSize, diskBytes)] }
}
