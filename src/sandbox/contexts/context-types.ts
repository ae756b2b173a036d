/** What code contexts take and give: the words of their public API. */
import type { GuestError } from '../../core/outcome.ts'
import type { HostFunction } from '../../core/request.ts'
import type { DisplayFacts, LogEntry, MimeBundle } from '../../core/output.ts'
import type { RunResult } from '../../core/result.ts'
import type { ContextLanguage } from '../../core/work.ts'

export interface CodeContextOptions {
  /** A name to find it by: letters, digits, `.`, `_`, `-`. Default: a fresh one. */
  readonly id?: string
  /** Default `python`. */
  readonly language?: ContextLanguage
  /** Its first working folder. Absolute; default /workspace. */
  readonly cwd?: string
  /** Its memory, which is not part of the sandbox's and at most as much. Default 512 MiB, or the sandbox's if that is less. */
  readonly limits?: { readonly memoryBytes?: number }
  /**
   * Functions of the host that its code may call by name, as in runs. One that awaits other code of the same context waits
   * for its caller, until the caller's `timeout`; without one that is refused.
   */
  readonly functions?: Readonly<Record<string, HostFunction>>
}

export interface ForkOptions {
  /** A name to find the fork by. Default: a fresh one. */
  readonly id?: string
}

export interface RunCodeOptions {
  /** Which context, or its id. Default: one that the sandbox keeps for the language, made when it is first needed. */
  readonly context?: Pick<CodeContext, 'id'> | string
  /** The language of the default context. Default `python`. */
  readonly language?: ContextLanguage
  /**
   * Milliseconds until the code is interrupted, as by `interrupt()`; `null` for no limit. Default 120 s. Time in which it
   * waits for the code before it does not count.
   */
  readonly timeout?: number | null
  /** Aborting it interrupts the code; the outcome is `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called for each piece of output as it comes. The code waits while a promise of it is pending. It may await the end of
   * the code, of the context or of the sandbox.
   */
  readonly onStdout?: ((text: string) => void) | ((text: string) => Promise<void>)
  readonly onStderr?: ((text: string) => void) | ((text: string) => Promise<void>)
  /**
   * Called for each console call of JavaScript as it comes, in its order among the output. The code waits while a promise
   * of it is pending.
   */
  readonly onLog?: ((entry: LogEntry) => void) | ((entry: LogEntry) => Promise<void>)
  /**
   * Called for each display as it comes, and for the value of the last expression, as MIME types with texts. `facts` has the
   * id of a display that has one, and says whether it takes the place of what was shown by that id, maybe by earlier code.
   * It comes in its order among the output; the code waits while a promise of it is pending.
   */
  readonly onResult?:
    | ((result: MimeBundle, facts: DisplayFacts) => void)
    | ((result: MimeBundle, facts: DisplayFacts) => Promise<void>)
  /** Called when the code clears what it has shown: at once, or with `waits` when the next display comes. */
  readonly onClear?: ((waits: boolean) => void) | ((waits: boolean) => Promise<void>)
  /** Called when the code has ended by an error. */
  readonly onError?: (error: GuestError) => void
  /** Answers `input()` of Python. Without it `input()` raises EOFError at once. */
  readonly onInput?: (prompt: string) => string | Promise<string>
}

/** What came out of one piece of code, like the result of a run. */
export interface CodeResult extends RunResult {
  /** The id of its context. */
  readonly context: string
  /** Whether variables, imports and functions are still there. Where they are not, the next code finds a fresh context. */
  readonly isStateKept: boolean
  /** Why they are not, or how the code was interrupted. */
  readonly note?: string
}

/** One interpreter that keeps its variables, imports and functions from one piece of code to the next. */
export interface CodeContext {
  readonly id: string
  readonly language: ContextLanguage
  /** Where it began. */
  readonly cwd: string
  /** `running` code, `idle`, or `gone`. */
  readonly status: 'running' | 'idle' | 'gone'
  /** Runs code in it, after the code that was given to it before. */
  runCode(code: string, options?: Omit<RunCodeOptions, 'context' | 'language'>): Promise<CodeResult>
  /**
   * Interrupts the code that runs, like Ctrl-C, and keeps the state; code that goes on all the same is ended with its
   * interpreter, and the result says so. Resolves when none runs any more, with whether any did; a callback of that code
   * may await it.
   */
  interrupt(): Promise<boolean>
  /**
   * Returns at most 100 names that complete the name at the end of `text`, such as `['append']` for `rows.app`. Guest
   * text. Finding them runs no guest code; while code runs, there are none.
   */
  complete(text: string): Promise<readonly string[]>
  /**
   * A second context with the same variables, imports and functions, after the code that was given to this one before;
   * from then on neither sees what the other does. Python alone, and by fork(2): throws FORK_REFUSED with the reason where
   * threads, programs or tasks of its code still run. Both share the memory limit of this one, and its /tmp.
   */
  fork(options?: ForkOptions): Promise<CodeContext>
  /** Starts it anew, without its state. Code that runs is ended. */
  restart(): Promise<void>
}
