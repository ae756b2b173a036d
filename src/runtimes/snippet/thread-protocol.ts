/** What the host and a thread of the `snippet` runtime say to each other. */
import type { GuestError } from '../../core/outcome.ts'
import type { EngineModule } from './engine-module.ts'

/** What a parked VM was made for; a program that needs something else waits for its own VM. */
export interface VmConfig {
  /** What the engine may allocate inside its linear memory. */
  readonly memoryBytes: number
  /** `fixed`: the clock stands at the epoch. */
  readonly clock: 'fixed' | 'real'
  /** `fixed`: the same numbers in each run. */
  readonly randomness: 'fixed' | 'real'
}

export const usualVm: VmConfig = { memoryBytes: 32 * 1024 * 1024, clock: 'fixed', randomness: 'fixed' }

/** The longest input, in UTF-8: a string that needs two bytes a character still fits into the usual memory. */
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
  /** A fresh VM waits for a program. */
  | { readonly type: 'ready' }
  | { readonly type: 'ended'; readonly end: ProgramEnd; readonly usage: ThreadUsage }
  /** The thread has stopped for ever inside the program, and waits for being terminated. */
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
