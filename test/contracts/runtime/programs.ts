/** What the contract needs of a language: the same small programs, written in each. */
import type { GuestError } from '../../../src/core/outcome.ts'
import type { Language, RuntimeName } from '../../../src/core/request.ts'
import type { RunResult } from '../../../src/core/result.ts'

/** A result with the bytes of its stdout. */
export type ReceivedResult = RunResult & { readonly bytes: Uint8Array }

export interface RuntimePrograms {
  readonly runtime: RuntimeName
  readonly language: Language
  /** Prints `text` to stdout, and nothing else. */
  readonly print: (text: string) => string
  /** Prints `out 1` and `out 2` to stdout and, between and after them, `err 1` and `err 2` to stderr, a line each. */
  readonly printToBoth: string
  /** Ends with this exit code without an error. */
  readonly exitWith: (exitCode: number) => string
  /** Copies stdin to stdout, byte for byte, to its end. */
  readonly copyStdin: string
  /** Prints each argument after the program's name, and a NUL after each. */
  readonly printArguments: string
  /** Prints the environment that the program sees as `NAME=value`, and a NUL after each. */
  readonly printEnvironment: string
  /** Copies the files to stdout, one after the other, byte for byte. */
  readonly printFiles: (...paths: readonly string[]) => string
  /** Prints `<mode in octal> <uid> <gid>` of each file, a line each. */
  readonly printOwnership: (...paths: readonly string[]) => string
  /** Prints the target of each link, a line each. */
  readonly printLinks: (...paths: readonly string[]) => string
  /** Prints the names in the folders, one a line. */
  readonly printNames: (...paths: readonly string[]) => string
  /** Writes these bytes to stdout. */
  readonly printBytes: (bytes: readonly number[]) => string
  /** Writes exactly so many `x` to stdout and nothing else, then ends. */
  readonly fill: (bytes: number) => string
  /** Prints `text`, flushed, then computes for ever. */
  readonly printThenLoop: (text: string) => string
  /** Prints `text`, flushed, then sleeps for ever. */
  readonly printThenSleep: (text: string) => string
  /** Computes for ever in as many processes as it says, after it printed `text`. */
  readonly loopInChildren: (children: number, text: string) => string
  /** Prints `text`, then ends itself with this signal. */
  readonly dieBy: (signal: 'SIGTERM' | 'SIGKILL', text: string) => string
  /** Starts a process that sleeps for ever and holds stdout, prints `parent is done` and ends. */
  readonly leaveProcessBehind: string
  /** Allocates memory and touches it until it is ended. */
  readonly allocateForever: string
  /** Time in which the runtime has started even on a busy machine. */
  readonly startMs: number
  /** A memory limit above what the runtime itself needs. */
  readonly memoryBytes: number
  /** Writes to `full` until the disk is full, and fails of it. */
  readonly fillDisk: string
  /** Starts processes that sleep until one more cannot be started, and fails of it; null where it would wait instead. */
  readonly spawnForever: string | null
  /**
   * Prints the environments of all processes that it can read, and the names in all folders where another run may have
   * something; what it cannot list it guesses.
   */
  readonly spy: string
  /** Programs that do not compile, or die of an error nobody caught; null where the language knows only exit codes. */
  readonly errors: {
    readonly uncaught: { readonly code: string; readonly error: Partial<GuestError> }
    readonly syntax: { readonly code: string; readonly error: Partial<GuestError> }
  } | null
  /** A program with a value; null where the language has none. */
  readonly value: { readonly code: string; readonly value: unknown; readonly text: string } | null
  /** A program that makes its input visible, and where to find it then. */
  readonly input: {
    readonly code: string
    readonly received: (result: ReceivedResult, sent: unknown) => unknown
  }
  /** Console calls, and what they say in the logs; null where the language has no console. */
  readonly console: {
    readonly code: string
    readonly logs: readonly { readonly level: string; readonly text: string }[]
  } | null
  /** Where the toolchain lies, before `/usr/local/bin:/usr/bin:/bin` on PATH. */
  readonly toolchainOnPath: boolean
}
