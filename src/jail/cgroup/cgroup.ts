/**
 * Cgroups: bounds on memory, processes and processor time that count everything in a cell together, and the
 * evidence of who ran into them. One group a cell, made before it and removed after it.
 * Stops: memory bombs, fork bombs. Does not stop: a machine whose other users take the memory first.
 * Needs: a cgroup of ours that we may make children in (root, or a delegated v2 group).
 * Source: cgroups(7), Documentation/admin-guide/cgroup-v1, cgroup-v2.rst.
 */
import type { CgroupFigures } from '../limits/limit-rows.ts'

export type CgroupController = 'memory' | 'pids' | 'cpu'

/** Where this process may make cgroups. */
export interface CgroupParent {
  readonly version: 1 | 2
  readonly controllers: readonly CgroupController[]
  /** The parent's folders, one a hierarchy, in the order of a cell's `joins`. */
  readonly folders: readonly string[]
  create(name: string, figures: CgroupFigures): CellCgroup
  /** Removes the parent; its cells are gone by then. */
  remove(): void
}

/** The cgroup of one cell. */
export interface CellCgroup {
  /** Files to write `0` to, from inside the process that joins. */
  readonly joins: readonly string[]
  /** Other limits from now on. Throws when the group uses more memory already. */
  limit(figures: CgroupFigures): void
  /** Lets processes of this host id join by themselves. */
  admit(uid: number): void
  /** Processes that the kernel ended for want of memory. */
  oomKills(): number
  memoryPeakBytes(): number
  cpuMs(): number
  /** Forks that the kernel refused. */
  forksRefused(): number
  /** Throws when a process is still inside. */
  remove(): void
}
