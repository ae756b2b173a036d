/** How far a reading may move during a run, and after it. Everything beyond is a suspicion. */
import type { Outcome } from '../../src/index.ts'
import { locksMax } from '../../src/jail/machine/locks.ts'
import { readTcpMem, socketBytesMax } from '../../src/jail/limits/socket-memory.ts'
import type { Readings } from './readings.ts'

export interface Observation {
  readonly before: Readings
  /** The highest reading during the run; for free memory, the lowest. */
  readonly extreme: Readings
  readonly after: Readings
  readonly outcome: Outcome['kind'] | 'threw'
  readonly detail: string
  readonly wallMs: number
  readonly memoryPeakBytes: number
  readonly heldByCgroup: boolean
  /** The longest time that this process's event loop was blocked. */
  readonly eventLoopMs: number
  /** The neighbours' complaints. */
  readonly neighbours: readonly string[]
}

export interface Suspicion {
  readonly what: string
  readonly moved: string
}

export const limits = {
  memoryBytes: 64 * 1024 * 1024,
  diskBytes: 16 * 1024 * 1024,
  processesMax: 32,
  openFilesMax: 256,
  wallMs: 2000,
}

const MiB = 1024 * 1024
/** Other activity on the machine, which a repetition must distinguish from the run's effects. */
const noiseBytes = 32 * MiB
const slabNoiseBytes = 10 * MiB
const eventLoopMsMax = 500
const lateMsMax = 2000

/** The bytes that a cell may have in its sockets, and what it can add until pid 1 checks: 20 ms, on a busy machine. */
const betweenLooksBytes = 32 * MiB
const socketBytes = socketBytesMax(limits.memoryBytes, readTcpMem()) + betweenLooksBytes

/** For the kernel, an anonymous shared mapping is a file, with about 1 KiB that the run's memory limit counts. */
const mappedFiles = limits.memoryBytes / 1024

/** Pid 1 counts them periodically, and on a busy machine a guest can make twice as many as on an idle one in between. */
const locksMadeMax = 4 * locksMax

interface Bound {
  readonly held?: number
  readonly left?: number
}

const bounds: Readonly<Record<string, Bound>> = {
  Percpu: { held: 16 * MiB, left: 4 * MiB },
  'socket memory': { held: socketBytes, left: 8 * MiB },
  'filter code': { held: 4 * MiB, left: 4 * MiB },
  HugePages_Free: { held: 0, left: 0 },
  'open files': { held: limits.processesMax * limits.openFilesMax + mappedFiles, left: 1000 },
  'file locks': { held: locksMadeMax, left: 100 },
  keys: { held: 200, left: 20 },
  ptys: { held: 200, left: 8 },
  mounts: { left: 8 },
  SUnreclaim: { left: 24 * MiB },
  KernelStack: { left: 8 * MiB },
  MemAvailable: { left: 64 * MiB },
}

export function listSuspicions(seen: Observation): Suspicion[] {
  return [...judgeMemory(seen), ...judgeReadings(seen), ...judgeRun(seen)]
}

/** Memory beyond the limit; and with a cgroup, memory that it has not counted. */
function judgeMemory({ before, extreme, after, memoryPeakBytes, heldByCgroup }: Observation): Suspicion[] {
  const paid = heldByCgroup ? memoryPeakBytes : limits.memoryBytes
  return [
    ['memory beyond the limit', 'MemAvailable', limits.memoryBytes + noiseBytes],
    ['memory that is charged to nobody', 'MemAvailable', paid + noiseBytes],
    ['kernel memory that is charged to nobody', 'SUnreclaim', paid + slabNoiseBytes],
    [
      'kernel mappings that are charged to nobody',
      'VmallocUsed',
      (heldByCgroup ? memoryPeakBytes : 0) + noiseBytes,
    ],
  ].flatMap(([what, name, allowed]) => {
    const [start = 0, most = 0, end = 0] = [before, extreme, after].map(
      (readings) => readings[String(name)] ?? 0,
    )
    // What other programs take meanwhile remains after the run; leftovers are judged separately.
    const moved = Math.min(Math.abs(most - start), Math.abs(most - end))
    if (moved <= Number(allowed)) return []
    const peak = Math.round(memoryPeakBytes / MiB)
    return [
      {
        what: String(what),
        moved: `${Math.round(moved / MiB)} MiB of ${String(name)}, reported peak ${peak} MiB`,
      },
    ]
  })
}

function judgeReadings({ before, extreme, after }: Observation): Suspicion[] {
  return Object.keys(before).flatMap((name) => {
    const start = before[name] ?? 0
    const isFree = name === 'MemAvailable' || name === 'HugePages_Free'
    const sign = isFree ? -1 : 1
    const held = sign * ((extreme[name] ?? start) - start)
    const left = sign * ((after[name] ?? start) - start)
    if (/^(time|mode) of/.test(name))
      return left === 0 ? [] : [{ what: `${name} changed`, moved: `by ${left}` }]
    const bound = bounds[name] ?? {}
    return [
      ...(held > (bound.held ?? Infinity) ? [{ what: `${name} held`, moved: `by ${held}` }] : []),
      ...(left > (bound.left ?? Infinity) ? [{ what: `${name} left behind`, moved: `by ${left}` }] : []),
    ]
  })
}

function judgeRun(seen: Observation): Suspicion[] {
  const { outcome, detail, wallMs, memoryPeakBytes, eventLoopMs, neighbours } = seen
  const found: Suspicion[] = []
  if (outcome === 'threw') found.push({ what: 'the run threw an error', moved: detail })
  if (outcome === 'denied') found.push({ what: 'the run was ended as denied', moved: detail })
  if (wallMs > limits.wallMs + lateMsMax)
    found.push({ what: 'the run ended late', moved: `${Math.round(wallMs)} ms` })
  if (memoryPeakBytes > limits.memoryBytes + noiseBytes)
    found.push({ what: 'a peak beyond the limit', moved: `${Math.round(memoryPeakBytes / MiB)} MiB` })
  if (eventLoopMs > eventLoopMsMax)
    found.push({ what: 'the event loop was blocked', moved: `for ${Math.round(eventLoopMs)} ms` })
  if (neighbours.length > 0) found.push({ what: 'a neighbour suffered', moved: neighbours[0] ?? '' })
  return found
}
