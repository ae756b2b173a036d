/** What a caller gets: how the run ended, what it left, and a receipt for the walls around it. */
import type { LimitMechanism, LimitName, Limits } from './limits.ts'
import type { Outcome } from './outcome.ts'
import type { Protection } from './protection.ts'
import type { RuntimeName } from './request.ts'

/** What one console call said. Guest text. */
export interface LogEntry {
  readonly level: 'debug' | 'log' | 'info' | 'warn' | 'error'
  readonly text: string
  /** Milliseconds since the guest started, by the host's clock. */
  readonly atMs: number
}

/** One thing in several formats: MIME type → text, or base64 for binary types. */
export type MimeBundle = Readonly<Record<string, string>>

export type Truncatable = 'stdout' | 'stderr' | 'logs' | 'value' | 'displays' | 'files'

export interface Usage {
  /** From the start of the guest process to its end. */
  readonly wallMs: number
  /** Processor time of all guest processes. */
  readonly cpuMs: number
  readonly memoryPeakBytes: number
  /** Time spent waiting for permission to start. */
  readonly queuedMs: number
  /** Bytes of stdout and stderr that the guest wrote, up to the limit. */
  readonly outputBytes: number
}

/**
 * How the guest came to be there: `cold`, started for this run; `parked`, started ahead in its own cell and waiting;
 * `forked`, the same as a fork of an interpreter that never runs guest code.
 */
export type StartKind = 'cold' | 'parked' | 'forked'

/** What really protected this run, as observed, not as configured. */
export interface Receipt {
  readonly start: StartKind
  readonly runtime: RuntimeName
  readonly protection: Protection
  /** The layers that stood, by name, e.g. `pid-namespace`, `seccomp`, `landlock-7`. */
  readonly layers: readonly string[]
  /** The value in force and the mechanism that holds it, for each limit. */
  readonly limits: Readonly<
    Record<LimitName, { readonly value: Limits[LimitName]; readonly by: LimitMechanism }>
  >
  /** Limits that the request asked for and the operator's ceilings lowered. */
  readonly clamped: readonly LimitName[]
  /** Facts the kernel stated about the guest process, e.g. `NoNewPrivs`, `Seccomp`, `CapBnd`, `uid_map`. */
  readonly observed: Readonly<Record<string, string>>
}

/** What came out of a run. */
export interface RunResult {
  readonly id: string
  readonly outcome: Outcome
  /** Present when the guest produced one: the completion value in JavaScript, the last expression in Python. */
  readonly value?: unknown
  /** The same value in the tagged encoding of `core/values.ts`: plain JSON that loses nothing. */
  readonly valueTagged?: unknown
  /** The value as the language's own REPL prints it. Guest text. */
  readonly valueText?: string
  readonly displays: readonly MimeBundle[]
  /** What `collect` asked for, by path below /workspace. Together at most `resultBytes`; a path is guest text. */
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly logs: readonly LogEntry[]
  /** Invalid UTF-8 is replaced. Kept up to the limit whatever the outcome. */
  readonly stdout: string
  readonly stderr: string
  readonly truncated: readonly Truncatable[]
  readonly usage: Usage
  readonly receipt: Receipt
}
