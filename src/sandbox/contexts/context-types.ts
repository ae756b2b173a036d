/** The types of the public API of code contexts. */
import type { GuestError } from '../../core/outcome.ts'
import type { HostFunction } from '../../core/request.ts'
import type { DisplayFacts, LogEntry, MimeBundle } from '../../core/output.ts'
import type { RunResult } from '../../core/result.ts'
import type { ContextLanguage } from '../../core/work.ts'

export interface CodeContextOptions {
  /** A name to find it by: letters, digits, `.`, `_`, `-`. Default: a new one. */
  readonly id?: string
  /** Default `python`. */
  readonly language?: ContextLanguage
  /** Its first working folder. Absolute; default /workspace. */
  readonly cwd?: string
  /** Its memory: separate from the sandbox's, and at most as much. Default 512 MiB, or the sandbox's if that is less. */
  readonly limits?: { readonly memoryBytes?: number }
  /**
   * Functions of the host that its code may call by name, as in runs. If a function awaits other code of the same
   * context, it waits until its caller's `timeout`, because that code begins after the caller. If the caller has no
   * `timeout`, the function gets INVALID_REQUEST.
   */
  readonly functions?: Readonly<Record<string, HostFunction>>
}

export interface ForkOptions {
  /** A name to find the fork by. Default: a new one. */
  readonly id?: string
}

export interface RunCodeOptions {
  /** The context, or its id. Default: one that the sandbox keeps for the language, created when it is first needed. */
  readonly context?: Pick<CodeContext, 'id'> | string
  /** The language of the default context. Default `python`. */
  readonly language?: ContextLanguage
  /**
   * Milliseconds until the code is interrupted, as by `interrupt()`; `null` for no limit. Default 120 s. The time for which it
   * waits for earlier code does not count.
   */
  readonly timeout?: number | null
  /** Aborting it interrupts the code; the outcome is `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called for each piece of output as it arrives. The code waits while the returned promise is pending. The callback may
   * end the code, the context or the sandbox, and await that end.
   */
  readonly onStdout?: ((text: string) => void) | ((text: string) => Promise<void>)
  readonly onStderr?: ((text: string) => void) | ((text: string) => Promise<void>)
  /**
   * Called for each console call of JavaScript as it arrives, in order with the output. The code waits while the returned
   * promise is pending.
   */
  readonly onLog?: ((entry: LogEntry) => void) | ((entry: LogEntry) => Promise<void>)
  /**
   * Called for each display as it arrives, as MIME types with texts. Also for the value of the last expression: a rich value
   * is a display, and a plain one is reported if the code displayed nothing. `facts` has the
   * id of the display, if any, and says whether it replaces the display that was shown with that id, maybe by earlier code.
   * Calls are in order with the output; the code waits while the returned promise is pending.
   */
  readonly onResult?:
    | ((result: MimeBundle, facts: DisplayFacts) => void)
    | ((result: MimeBundle, facts: DisplayFacts) => Promise<void>)
  /** Called when the code clears its displays: at once, or with `waits` at the next display. */
  readonly onClear?: ((waits: boolean) => void) | ((waits: boolean) => Promise<void>)
  /** Called when the code has ended with an error. */
  readonly onError?: (error: GuestError) => void
  /** Answers `input()` of Python. Without it `input()` raises EOFError at once. */
  readonly onInput?: (prompt: string) => string | Promise<string>
}

/** The result of one piece of code, like the result of a run. */
export interface CodeResult extends RunResult {
  /** The id of its context. */
  readonly context: string
  /** Whether variables, imports and functions still exist. If not, the next code gets a new context. */
  readonly isStateKept: boolean
  /** Why they do not, how the code was interrupted, or that some of the output is from earlier code. */
  readonly note?: string
}

/** One interpreter that keeps its variables, imports and functions from one piece of code to the next. */
export interface CodeContext {
  readonly id: string
  readonly language: ContextLanguage
  /** Its first working folder. */
  readonly cwd: string
  /** `running` code, `idle`, or `gone`. */
  readonly status: 'running' | 'idle' | 'gone'
  /** Runs code in it, after all earlier code. */
  runCode(code: string, options?: Omit<RunCodeOptions, 'context' | 'language'>): Promise<CodeResult>
  /**
   * Interrupts the running code, like Ctrl-C, and keeps the state. Code that ignores this is ended with its
   * interpreter, and the result says so. Resolves when no code runs any more, with whether any did. A callback of that code
   * may await it.
   */
  interrupt(): Promise<boolean>
  /**
   * Returns at most 100 names that complete the name at the end of `text`, such as `['append']` for `rows.app`. Guest
   * text. Finding them runs no guest code; while code runs, there are none.
   */
  complete(text: string): Promise<readonly string[]>
  /**
   * Creates a second context with the same variables, imports and functions, after all earlier code of this one;
   * from then on they are independent. Only for Python, by fork(2): throws FORK_REFUSED with the reason if
   * threads, programs or tasks of its code still run. Both share this context's memory limit and /tmp.
   */
  fork(options?: ForkOptions): Promise<CodeContext>
  /** Restarts it without its state. Running code is ended. */
  restart(): Promise<void>
}
