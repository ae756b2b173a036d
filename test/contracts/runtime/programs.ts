/** The small programs that the contract needs in each language. */
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
  /** Prints the lines `out 1`, `err 1`, `out 2`, `err 2` in this order: `out` to stdout, `err` to stderr. */
  readonly printToBoth: string
  /** Exits with this code, without an error. */
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
  /** Writes exactly `bytes` times `x` to stdout and nothing else, then ends. */
  readonly fill: (bytes: number) => string
  /** Prints `text`, flushed, then computes for ever. */
  readonly printThenLoop: (text: string) => string
  /** Prints `text`, flushed, then sleeps for ever. */
  readonly printThenSleep: (text: string) => string
  /** Prints `text`, then computes for ever in this many processes. */
  readonly loopInChildren: (children: number, text: string) => string
  /** Prints `text`, then kills itself with this signal. */
  readonly dieBy: (signal: 'SIGTERM' | 'SIGKILL', text: string) => string
  /** Starts a process that sleeps for ever with the same stdout, prints `parent is done` and ends. */
  readonly leaveProcessBehind: string
  /** Allocates memory and touches it until it is killed. */
  readonly allocateForever: string
  /** A time within which the runtime starts even on a busy machine. */
  readonly startMs: number
  /** A memory limit above what the runtime itself needs. */
  readonly memoryBytes: number
  /** Writes to `full` until the disk is full, and fails because of that. */
  readonly fillDisk: string
  /**
   * Starts sleeping processes until one cannot be started, and fails because of that; null if it would wait instead.
   */
  readonly spawnForever: string | null
  /**
   * Prints the environments of all processes that it can read, and the names in all folders where another run may have
   * something. It guesses names in folders that it cannot list.
   */
  readonly spy: string
  /** Programs that do not compile, or end with an uncaught error; null if the language has only exit codes. */
  readonly errors: {
    readonly uncaught: { readonly code: string; readonly error: Partial<GuestError> }
    readonly syntax: { readonly code: string; readonly error: Partial<GuestError> }
  } | null
  /** A program with a value; null if the language has no values. */
  readonly value: { readonly code: string; readonly value: unknown; readonly text: string } | null
  /** A program that reveals its input, and how to get it from the result. */
  readonly input: {
    readonly code: string
    readonly received: (result: ReceivedResult, sent: unknown) => unknown
  }
  /** Console calls, and their logs; null if the language has no console. */
  readonly console: {
    readonly code: string
    readonly logs: readonly { readonly level: string; readonly text: string }[]
  } | null
  /** Whether PATH begins with the toolchain's folder, before `/usr/local/bin:/usr/bin:/bin`. */
  readonly toolchainOnPath: boolean
}
