/** How much a machine can run at one time, by default. */
import { availableParallelism, totalmem } from 'node:os'
import { getHeapStatistics } from 'node:v8'

import { limitRanges } from '../core/limits.ts'
import type { Limits } from '../core/limits.ts'

/** The operator's options. */
export interface QueueOptions {
  /**
   * Runs in cells at one time. Default: eight for each processor, at least 16; a single client gets just over half of
   * them.
   */
  readonly runningMax?: number
  /**
   * The memory that may be promised to runs and sandboxes together: the sum of their `memoryBytes`. Default: three
   * quarters of what is available when Lazaret is created.
   */
  readonly memoryTotalBytes?: number
  /** Requests in the queue. Default 10 000. */
  readonly waitingMax?: number
  /** The longest time in the queue. Milliseconds; default 10 minutes. */
  readonly waitMs?: number
  /**
   * The bytes that clients may make this process hold: request bodies, answers that are not taken yet, logs, output and
   * results, together. A client alone gets half of them, and all Lazarets of a process share the default. Default: an
   * eighth of the memory that is available when Lazaret is created, or a quarter of Node's heap limit if that is less; at
   * least 64 MiB.
   */
  readonly heldBytesMax?: number
}

export type RoomSize = Required<Omit<QueueOptions, 'heldBytesMax'>>

/** The rest is for this process, its threads, and idle workers. */
const promisedShare = 3 / 4

/** `availableBytes` is not called if the operator has set the memory. */
export function resolveRoom(asked: QueueOptions, availableBytes: () => number): RoomSize {
  return {
    runningMax: asked.runningMax ?? Math.max(16, 8 * availableParallelism()),
    memoryTotalBytes:
      asked.memoryTotalBytes ??
      Math.max(Math.floor(availableBytes() * promisedShare), limitRanges.memoryBytes.least),
    waitingMax: asked.waitingMax ?? 10_000,
    waitMs: asked.waitMs ?? 600_000,
  }
}

/** Half of what is not promised to guests. */
const heldShare = (1 - promisedShare) / 2
/** Decoded, a byte takes two in Node's heap, and as JSON some of them take more. */
const heapShare = 1 / 4
/** Room for one body of the largest size. */
const heldBytesLeast = 64 * 1024 * 1024

/** `availableBytes` is not called if the operator has set the bytes. */
export function resolveHeldBytes(
  { heldBytesMax }: QueueOptions,
  availableBytes: () => number,
  heapBytes: number = getHeapStatistics().heap_size_limit,
): number {
  return (
    heldBytesMax ??
    Math.max(Math.floor(Math.min(availableBytes() * heldShare, heapBytes * heapShare)), heldBytesLeast)
  )
}

/** The memory that may be promised acts as a ceiling: a request above it is lowered. */
export function withinRoom(ceilings: Partial<Limits>, { memoryTotalBytes }: RoomSize): Partial<Limits> {
  const { memoryBytes = limitRanges.memoryBytes.most } = ceilings
  return memoryBytes <= memoryTotalBytes ? ceilings : { ...ceilings, memoryBytes: memoryTotalBytes }
}

/** The memory of the machine, or of the container if that has less. */
export function availableMemory(): number {
  // Node asks the kernel for MemAvailable, and the cgroup of this process for its limit and use.
  return Math.min(process.availableMemory(), totalmem())
}
