/**
 * Cgroups: bounds on memory, processes and processor time of everything in a cell together, and evidence of which bound
 * was hit. One group for each cell, created before it and removed after it.
 * Stops: memory bombs, fork bombs. Does not stop: a machine whose other users take the memory first.
 * Needs: a cgroup in which this process may create children (root, or a delegated v2 group).
 * Source: cgroups(7), Documentation/admin-guide/cgroup-v1, cgroup-v2.rst.
 */
import type { CgroupFigures } from '../limits/limit-rows.ts'

export type CgroupController = 'memory' | 'pids' | 'cpu'

/**
 * Where the groups of cells are: in this process's own group, in a scope that systemd made for them, or directly below
 * the root of the tree.
 */
export type CgroupRoad = 'own-group' | 'scope' | 'root-group'

/** A place where this process may create cgroups. */
export interface CgroupParent {
  readonly version: 1 | 2
  readonly road: CgroupRoad
  readonly controllers: readonly CgroupController[]
  /** The parent's folders, one for each hierarchy, in the order of a cell's `joins`. */
  readonly folders: readonly string[]
  create(name: string, figures: CgroupFigures): CellCgroup
  /**
   * On the road `scope`: the scope lives as long as a process is in it, and an ordinary user's launchers can join groups
   * only from there. Moves the process that starts the launchers into it, and makes it again if it has ended. Blocks for
   * some milliseconds; throws if that is impossible.
   */
  readonly hold?: (pid: number) => void
  /** Removes the parent; its cells are gone by then. */
  remove(): void
}

/** The cgroup of one cell. */
export interface CellCgroup {
  /** Files to write `0` to, from inside the process that joins. */
  readonly joins: readonly string[]
  /** Changes the limits. Throws if the group already uses more memory. */
  limit(figures: CgroupFigures): void
  /** Lets processes of this host id join by themselves. */
  admit(uid: number): void
  /** From now on the cell gets processor time after younger cells. If the kernel cannot do that, nothing changes. */
  yieldProcessors(): void
  /** The number of processes that the kernel killed because memory ran out. */
  oomKills(): number
  memoryPeakBytes(): number
  cpuMs(): number
  /** The number of forks that the kernel refused. */
  forksRefused(): number
  /** Throws if a process is still inside. */
  remove(): void
}
