/** The messages between the host and a thread of the `snippet` runtime. */
import type { GuestError } from '../../core/outcome.ts'
import type { EngineModule } from './engine-module.ts'

/** The configuration of a VM. A program that needs another one than the parked VM's waits for a new VM. */
export interface VmConfig {
  /** The limit on the engine's allocations in its linear memory. */
  readonly memoryBytes: number
  /** `fixed`: the clock always shows the epoch. */
  readonly clock: 'fixed' | 'real'
  /** `fixed`: `Math.random` returns the same numbers in each run. */
  readonly randomness: 'fixed' | 'real'
}

export const usualVm: VmConfig = { memoryBytes: 32 * 1024 * 1024, clock: 'fixed', randomness: 'fixed' }

/** The longest input, in UTF-8. Even as a string with two bytes per character it fits into the usual memory. */
export const inputBytesMax = usualVm.memoryBytes / 4

export interface SnippetJob extends VmConfig {
  readonly source: string
  readonly input: string
  /** See output-buffer.ts. */
  readonly output: SharedArrayBuffer
}

/** The module comes first, then jobs, one at a time. */
export type ToThread =
  | { readonly type: 'module'; readonly module: EngineModule }
  | { readonly type: 'job'; readonly job: SnippetJob }

export type FromThread =
  /** A fresh VM is ready for a program. */
  | { readonly type: 'ready' }
  | { readonly type: 'ended'; readonly end: ProgramEnd; readonly usage: ThreadUsage }
  /** The thread blocks inside the program until it is terminated. */
  | { readonly type: 'output-full'; readonly usage: ThreadUsage }

/** How a program ended on its own. */
export type ProgramEnd =
  | { readonly kind: 'completed' }
  | { readonly kind: 'failed'; readonly phase: 'syntax' | 'run'; readonly error: GuestError }
  | { readonly kind: 'out-of-memory' }

export interface ThreadUsage {
  readonly wallMs: number
  readonly memoryPeakBytes: number
}
