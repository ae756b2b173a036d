/** What a sandbox takes and returns: the types of its public API. */
import type { Limits } from '../core/limits.ts'
import type { Outcome } from '../core/outcome.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { Network, NetworkMode } from '../core/network.ts'
import type { EdgeSecrets } from '../core/secrets.ts'
import type { OutputChunk } from '../core/request.ts'
import type { Receipt, Usage } from '../core/receipt.ts'
import type { ToTextOptions } from '../core/result.ts'
import type { TouchedLimit } from './commands/touched.ts'
import type { TerminalSize } from '../jail/cell/guest-process.ts'

export interface SandboxOptions {
  /** A name to find it by in `listSandboxes()`: letters, digits, `.`, `_`, `-`. Default: a new one. */
  readonly id?: string
  /** The client, for the sandbox and for all work in it: for rate limits, audit and fairness. */
  readonly client?: string | undefined
  /** Files placed in /workspace before anything runs; keys are relative paths. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Variables of every command of the user space. Not for secrets: see `ExecOptions.env`. */
  readonly env?: Variables
  /**
   * For all commands together: 3 GiB of memory, or less if four such sandboxes would not fit; of this, 2 GiB for files
   * in /workspace and HOME, and a quarter of that (at most 512 MiB) for files in /tmp and /run; and 1024 processes and
   * threads. Each process may open 65 536 files and begins with a limit of 1024. If only `diskBytes` is set, memory
   * grows with it. `outputBytes` applies to each command.
   */
  readonly limits?: Partial<Omit<Limits, 'wallMs' | 'cpuMs'>>
  /**
   * Default `none`: its own network, which has only a loopback device. A policy allows the hosts that it names; its
   * limits apply to all commands together.
   */
  readonly network?: Network
  /**
   * Secrets that its commands can use without having them: the variable has a placeholder. A process outside the sandbox
   * replaces the placeholder with the value in requests to the secret's hosts. Needs a network policy.
   */
  readonly secrets?: EdgeSecrets
  /**
   * With network `host`: TCP ports that nothing in the sandbox may bind, even while they are free. Default 8080
   * and 8888. If the kernel cannot enforce that (before Linux 6.7, at level `restricted`, or for ports that it assigns
   * itself), the sandbox is refused.
   */
  readonly protectedPorts?: readonly number[]
  /**
   * A folder of the host as its /workspace, which outlives the sandbox. It is the only place on the host that commands
   * may write to. The path is absolute, and root may not own the folder; its files belong to its owner. `diskBytes` bounds
   * each file there, but not their sum.
   * It must not contain sockets or named pipes when the sandbox is created, or guests could talk to host programs.
   */
  readonly workspace?: string
  /** Host folders that its commands may read, besides the operator's. */
  readonly readable?: readonly { readonly host: string; readonly guest: string }[]
  /** The name of an environment, whose packages its commands and code contexts can import. Default: none. */
  readonly environment?: string
  /** Ends the sandbox, with everything in it, after this time without a call. Milliseconds; default never. */
  readonly idleTimeoutMs?: number
  /** Whether commands with credentials may run if the machine cannot isolate them. Default false. */
  readonly allowDegradedSecrets?: boolean
}

/** A name with the value `undefined` is left out, or removed if it was set before. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface ExecOptions {
  /**
   * Credentials, for this command only: with any, it runs in a new space that nothing else of the sandbox can inspect.
   * Its only other variables are its `variables` and those that Lazaret sets, such as `PATH` and its own, empty `HOME`.
   */
  readonly env?: Variables
  /**
   * Plain variables, for this command only. Not for secrets, because other commands of the user space can read them.
   * They override the session's variables, which keep their values, whatever the command does. A command with
   * credentials gets them, too; no name may be in both. Default none.
   */
  readonly variables?: Variables
  /** The working folder, absolute. Default: the session's. */
  readonly cwd?: string
  /**
   * Milliseconds until the command is ended, with everything that it has started; `null` for no limit. Default 120 s. A
   * background process has no limit unless it names one.
   */
  readonly timeout?: number | null
  /** Default: the default session, which always exists. */
  readonly sessionId?: string
  /** Its standard input. Default: /dev/null. */
  readonly stdin?: string | Uint8Array
  /** Aborting it ends the command; the outcome is `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /** Called for each piece of output as it arrives. The command waits while the returned promise is pending. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | ((chunk: OutputChunk) => Promise<void>)
  /**
   * For a command with credentials: `workspace` makes /workspace its HOME, with all files that other commands have left
   * there.
   */
  readonly home?: 'workspace'
  /** Gives it a terminal of this size instead of pipes. Then all output is `stdout`. */
  readonly tty?: TerminalSize
}

export interface ExecResult {
  /** The command's id in events and the audit log. */
  readonly id: string
  /** Whether it ended on its own with exit code 0. */
  readonly success: boolean
  /** Its own; 124 after a timeout, 130 after a cancellation, 128 plus the signal's number if a signal killed it. */
  readonly exitCode: number
  /** Invalid UTF-8 is replaced. */
  readonly stdout: string
  readonly stderr: string
  readonly command: string
  /** Milliseconds from its start to its end. */
  readonly duration: number
  /** When it ended, ISO 8601. */
  readonly timestamp: string
  readonly outcome: Outcome
  /** Its usage. Processor time and memory cover its shell and the processes that a parent has waited for. */
  readonly usage: Usage
  /** The streams that were cut because the output exceeded `outputBytes`. */
  readonly truncated: readonly ('stdout' | 'stderr')[]
  readonly isolation: Isolation
  /** The limits that it reached, even if it continued and succeeded. Mostly empty. */
  readonly touched: readonly TouchedLimit[]
  /**
   * The layers that protected it and what enforced each limit, signed with the option `receipts`. A limit that holds
   * only in runs is `null` there, and `wallMs` is its `timeout`.
   */
  readonly receipt: Receipt
  /**
   * Returns the result as compact text for a language model: output and, if it did not simply succeed, how it ended, what
   * limits it reached and what to do next. Never empty; shortened text says so.
   *
   * @throws {LazaretError} INVALID_REQUEST when `charsMax` is not a whole number of at least 1000.
   */
  toText(options?: ToTextOptions): string
}

/** The protection of a command. */
export interface Isolation {
  /** `user`: with the sandbox's other commands. `secure`: alone, with its credentials. */
  readonly space: 'user' | 'secure'
  readonly level: ProtectionLevel
  readonly network: NetworkMode | 'policy'
  /**
   * For a command with `env`: what it could not see in its secure space, or why it did not run in one. For a command
   * that failed without a network: that the sandbox has none, or what its policy refused.
   */
  readonly note?: string
}

export interface SessionOptions {
  /** Letters, digits, `.`, `_`, `-`. Default: a new one. */
  readonly id?: string
  /** Variables of its commands, besides the sandbox's. */
  readonly env?: Variables
  /** Its first working folder. Absolute; default /workspace. */
  readonly cwd?: string
}

export interface SandboxSession {
  readonly id: string
  /** The working folder of its next command. */
  readonly cwd: string
  exec(command: string, options?: ExecOptions): Promise<ExecResult>
}

/** Not with credentials in `env`, which are only for single commands. */
export interface ProcessOptions extends ExecOptions {
  /** A name to find it by. Default: a new one. */
  readonly id?: string
}
