/** One process in a cell, as the host sees it: its limits and what the kernel reports about it. */
import type { Exceeded } from '../../result/exit.ts'
import type { DiskRoom } from '../limits/disk.ts'
import type { Watched } from '../limits/limit-rows.ts'
import type { Rlimit } from '../limits/rlimits.ts'

export interface SpawnSpec extends HeldLimits {
  /** The program; for a collector its task, `list` or `read`. */
  readonly file: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly rlimits: readonly Rlimit[]
  /** All of stdin, or `later` if it comes with `begin`. Absent means /dev/null. */
  readonly stdin?: Uint8Array | 'later'
  /**
   * What descriptor 3 is: the cell's private channel, or a socket of this process alone, which pid 1 relays. Absent:
   * nothing.
   */
  readonly channel?: 'cell' | 'own'
  /** The launcher's own confined reader of files (native/cell/files/collect.c) instead of a program. */
  readonly isCollector?: boolean
  /** A task of the launcher's file service (native/cell/files/service.c) instead of a program. */
  readonly isFileTask?: boolean
  /** A fork of the space's zygote instead of a program. */
  readonly isFork?: boolean
  /**
   * A fork of this process of the cell. That process forks itself when pid 1 sends it the descriptors
   * (native/cell/serve/splits.c).
   */
  readonly forkOf?: number
  /** Whether descriptor 3 is a stream to the host, `state`. */
  readonly hasState?: boolean
  /** A terminal of its own instead of three pipes; all its output is `stdout`. */
  readonly terminal?: TerminalSize
  /** Whether it adopts the children of its ended descendants, so that `killTree` finds all of them. */
  readonly adopts?: boolean
  /** Whether output beyond the budget is dropped, instead of ending everything in the cell. */
  readonly dropsExcess?: boolean
}

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

export type GuestStream = 'stdout' | 'stderr' | 'state'

/** Limits that pid 1 enforces itself. */
export interface HeldLimits {
  /** Bytes of stdout and stderr together. */
  readonly outputBytes: number
  /** Real time until pid 1 ends everything; 0 for none. */
  readonly wallMs: number
  readonly watched: Watched
}

/** What changes in a process that was started ahead when its run begins. */
export interface BeginSpec extends HeldLimits {
  /** New rlimits, which are never higher than its present ones. */
  readonly rlimits: readonly Rlimit[]
  readonly stdin: Uint8Array
  /** The disk limit for the run's folder on the host; null if it stays as planned. */
  readonly work: DiskRoom | null
  /** Mounts whose size changes. */
  readonly resized: readonly {
    readonly path: string
    readonly flags: number
    readonly options: string
  }[]
}

/** How a process ended, from its wait status. */
export type ProcessEnd =
  | { readonly by: 'exit'; readonly exitCode: number }
  | { readonly by: 'signal'; readonly signal: string }

export interface ProcessReport {
  readonly end: ProcessEnd
  readonly cpuMs: number
  /** Resident set of the largest process among it and the children it waited for. */
  readonly residentPeakBytes: number
  /** The largest value that the watchdog saw; 0 if it does not run. */
  readonly watchdogPeakBytes: number
  /** What was written above the output budget, which both streams share. */
  readonly droppedBytes: { readonly stdout: number; readonly stderr: number }
  readonly diskFull: boolean
  /** From its start to its end, by the cell's own clock. */
  readonly elapsedMs: number
  /** How many of the forks that the process limit refused in this cell were pid 1's own, for measuring. */
  readonly forksRefusedToPid1: number
}

/** What the guests had used before they were ended, if no cgroup counts it. */
export interface CellUsage {
  readonly cpuMs: number
  readonly memoryPeakBytes: number
}

/** Called as frames arrive, in order. */
export interface ProcessListener {
  /** The program has been executed; `status` is its /proc/<pid>/status, `pid` its number in the cell. */
  onSpawned(status: string, pid: number): void
  onOutput(stream: GuestStream, bytes: Buffer): void
  /** A limit was exceeded and everything in the cell was killed. */
  onExceeded(what: Exceeded): void
  /** The guests are about to be killed on request; their end follows. */
  onUsage(usage: CellUsage): void
  onExit(report: ProcessReport): void
  /** The cell is gone, and it is unknown how this process ended. */
  onLost?(): void
}
