/** Everything that is known of a run when it is over: the evidence that `settle` decides on. */
import type { LimitMechanisms } from '../core/limits.ts'
import { perLimit } from '../core/limits.ts'
import type { GuestError } from '../core/outcome.ts'
import type { LogEntry, MimeBundle, Truncatable } from '../core/result.ts'

/**
 * The limits for which pid 1 ends a run itself, by the number with which it says so (native/cell/cell.h). A stream's name
 * stands for the output budget that it passed.
 */
export const exceeded = {
  1: 'stdout',
  2: 'memory',
  3: 'cpu',
  4: 'stderr',
  5: 'wall',
  6: 'disk',
  7: 'processes',
} as const
export type Exceeded = (typeof exceeded)[keyof typeof exceeded]

/** Why we ended the run, if we did. Ours alone to say. */
export type KillReason = Exclude<Exceeded, 'stdout' | 'stderr'> | 'output' | 'host' | 'cancelled'

/** What the guest said of itself on its channel: claims, never evidence. */
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
  /** Processes the kernel ended for want of memory, by the cgroup's counter. */
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
  /** What policy forbids and the program asked for, by the word of what refused it. */
  readonly denied?: string
  /** Facts the kernel stated about the guest process. */
  readonly observed: Readonly<Record<string, string>>
  /** Names of the layers that stood. */
  readonly layers: readonly string[]
  /** By what each limit was held. */
  readonly heldBy: LimitMechanisms
}

/** Of a process that used nothing and of whose end nothing is known: what is known goes over it. */
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
