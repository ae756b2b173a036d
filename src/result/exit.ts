/** Everything that is known of a finished run: the evidence from which `settle` decides. */
import type { LimitMechanisms } from '../core/limits.ts'
import { perLimit } from '../core/limits.ts'
import type { NetworkReport } from '../core/network.ts'
import type { GuestError } from '../core/outcome.ts'
import type { LogEntry, MimeBundle } from '../core/output.ts'
import type { Truncatable } from '../core/result.ts'

/**
 * The limits for which pid 1 itself ends a run, by the number that it reports (native/cell/cell.h). The name of a
 * stream means that this stream exceeded the output budget.
 */
export const exceeded = {
  1: 'stdout',
  2: 'memory',
  3: 'cpu',
  4: 'stderr',
  5: 'wall',
  6: 'disk',
  7: 'processes',
  8: 'files',
} as const
export type Exceeded = (typeof exceeded)[keyof typeof exceeded]

/** Why the host ended the run, if it did. Only the host knows this. */
export type KillReason = Exclude<Exceeded, 'stdout' | 'stderr'> | 'output' | 'host' | 'cancelled'

/** What the guest reported on its channel: claims, never evidence. */
export interface GuestClaims {
  readonly value?: { readonly tagged: unknown; readonly live: unknown; readonly text: string }
  readonly error?: { readonly phase: 'syntax' | 'run'; readonly error: GuestError }
  readonly logs: readonly LogEntry[]
  readonly displays: readonly MimeBundle[]
}

export interface Exit {
  /** From the kernel's wait status; null when the whole cell was ended before its main process was reaped. */
  readonly end:
    | { readonly by: 'exit'; readonly exitCode: number }
    | { readonly by: 'signal'; readonly signal: string }
    | null
  readonly killReason: KillReason | null
  /** Processes that the kernel killed because memory ran out, by the cgroup's counter. */
  readonly oomKills: number
  /** Forks that the pids cgroup refused. */
  readonly forksRefused: number
  /** No block or inode was left in a writable mount when the main process ended. */
  readonly diskFull: boolean
  /** Whether a per-process limit on data was in force, so that an allocation could fail before any kill. */
  readonly dataLimited: boolean
  readonly memoryPeakBytes: number
  readonly cpuMs: number
  readonly wallMs: number
  readonly outputBytes: number
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly Truncatable[]
  readonly claims: GuestClaims
  /** What the program asked for and policy forbids, as reported by what refused it. */
  readonly denied?: string
  /** What it did under a network policy. */
  readonly network?: NetworkReport | undefined
  /** Facts that the kernel reported about the guest process. */
  readonly observed: Readonly<Record<string, string>>
  /** Names of the layers that were applied. */
  readonly layers: readonly string[]
  /** What enforced each limit. */
  readonly heldBy: LimitMechanisms
}

/** What is known when a run ends. Its output becomes text when the caller has taken it. */
export type Evidence = Omit<Exit, 'stdout' | 'stderr'>

/** The facts of a process that used nothing and whose end is unknown; known facts replace them. */
export const nothingKnown: Exit = {
  end: null,
  killReason: null,
  oomKills: 0,
  forksRefused: 0,
  diskFull: false,
  dataLimited: false,
  memoryPeakBytes: 0,
  cpuMs: 0,
  wallMs: 0,
  outputBytes: 0,
  stdout: '',
  stderr: '',
  truncated: [],
  claims: { logs: [], displays: [] },
  observed: {},
  layers: [],
  heldBy: perLimit(() => 'none'),
}
