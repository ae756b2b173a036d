/** One process in a cell, as the host sees it: its limits and what the kernel reports about it. */
import type { Exceeded } from '../../result/exit.ts'
import type { DiskRoom } from '../limits/disk.ts'
import type { Watched } from '../limits/limit-rows.ts'
import type { Rlimit } from '../limits/rlimits.ts'

export interface SpawnSpec extends HeldLimits {
  /** A program; for a collector its task, `list` or `read`. */
  readonly file: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly rlimits: readonly Rlimit[]
  /** All of stdin, or that it comes with `begin`; absent means /dev/null. */
  readonly stdin?: Uint8Array | 'later'
  /**
   * What descriptor 3 is, if anything: the cell's private channel, or a socket of this process's own, which pid 1
   * relays.
   */
  readonly channel?: 'cell' | 'own'
  /** The launcher's own confined reader of files (native/cell/files/collect.c) instead of a program. */
  readonly isCollector?: boolean
  /** A task of the launcher's file service (native/cell/files/service.c) instead of a program. */
  readonly isFileTask?: boolean
  /** A fork of the space's zygote instead of a program. */
  readonly isFork?: boolean
  /** A fork of this process of the cell, which makes it itself when it is sent the descriptors (native/cell/serve/splits.c). */
  readonly forkOf?: number
  /** Whether descriptor 3 is a stream to the host, `state`. */
  readonly hasState?: boolean
  /** A terminal of its own instead of three pipes; all its output is `stdout`. */
  readonly terminal?: TerminalSize
  /** Whether it adopts the children of its ended descendants, so that `killTree` finds all of them. */
  readonly adopts?: boolean
  /** Whether passing the output budget drops the rest, and does not end everything in the cell. */
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

/** What changes when the run begins of a process that was started ahead. */
export interface BeginSpec extends HeldLimits {
  /** Only lower limits than it has. */
  readonly rlimits: readonly Rlimit[]
  readonly stdin: Uint8Array
  /** Where the run's folder on the host is watched; null for as it was planned. */
  readonly work: DiskRoom | null
  /** Mounts that take another size. */
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
  readonly outputDroppedBytes: number
  readonly diskFull: boolean
  /** From its start to its end, by the cell's own clock. */
  readonly elapsedMs: number
  /** How many of the forks that the process limit refused in this cell were pid 1's own, for measuring. */
  readonly forksRefusedToPid1: number
}

/** What the guests had used when they were told to end, if no cgroup counts it. */
export interface CellUsage {
  readonly cpuMs: number
  readonly memoryPeakBytes: number
}

/** Called as frames arrive, in order. */
export interface ProcessListener {
  /** The program has been executed; `status` is the kernel's /proc/<pid>/status of it, `pid` its number in the cell. */
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
