/** What a sandbox takes and returns: the types of its public API. */
import type { Limits } from '../core/limits.ts'
import type { Outcome } from '../core/outcome.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { Network, NetworkMode } from '../core/network.ts'
import type { EdgeSecrets } from '../core/secrets.ts'
import type { OutputChunk } from '../core/request.ts'
import type { Receipt, Usage } from '../core/receipt.ts'
import type { TouchedLimit } from './commands/touched.ts'
import type { TerminalSize } from '../jail/cell/guest-process.ts'

export interface SandboxOptions {
  /** A name to find it by in `listSandboxes()`: letters, digits, `.`, `_`, `-`. Default: a fresh one. */
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
   * grows with it. `outputBytes` applies to each command; `wallMs` and `cpuMs` have no effect here.
   */
  readonly limits?: Partial<Limits>
  /**
   * Default `none`: its own network, with a loopback and nothing else. A policy lets what it names through; its limits
   * apply to all commands together.
   */
  readonly network?: Network
  /**
   * Secrets that its commands can use without having them: the variable holds a placeholder. Where the placeholder
   * appears in a request to a host of the secret, a process outside the sandbox puts in the value. Needs a network that
   * is a policy.
   */
  readonly secrets?: EdgeSecrets
  /**
   * With network `host`: TCP ports that nothing in the sandbox may bind, even while nobody else uses them. Default 8080
   * and 8888. If the kernel cannot enforce that (before Linux 6.7, at level `restricted`, or for ports that it assigns
   * itself), the sandbox is refused.
   */
  readonly protectedPorts?: readonly number[]
  /**
   * A folder of the host to be its /workspace, which stays when the sandbox is gone: the only place of the host that its
   * commands may write to. Absolute, and not root's; its files stay its owner's. `diskBytes` holds no sum there, only
   * the size of each file.
   * It must have no sockets and named pipes when the sandbox is created, or guests could talk to programs of the host.
   */
  readonly workspace?: string
  /** Host folders that its commands may read, besides the operator's. */
  readonly readable?: readonly { readonly host: string; readonly guest: string }[]
  /** The name of an environment, whose packages its commands and code contexts can import. Default: none. */
  readonly environment?: string
  /** Ends it, with everything in it, when nothing has been asked of it for so long. Milliseconds; default never. */
  readonly idleTimeoutMs?: number
  /** Whether commands with credentials may run where nothing keeps them apart. Default false. */
  readonly allowDegradedSecrets?: boolean
}

/** A name with the value `undefined` is left out, or removed if it was set before. */
export type Variables = Readonly<Record<string, string | undefined>>

export interface ExecOptions {
  /**
   * Credentials, for this command alone: with any, it runs in a fresh space that nothing else of the sandbox can look
   * into, with these variables, `PATH`, `LANG`, `TZ`, `TERM` and an empty `HOME` of its own, and no other variable.
   */
  readonly env?: Variables
  /**
   * Plain variables, for this command alone: no secrets, since other commands of the user space can read them. They
   * hide those of the session with the same names; the session keeps its own, whatever the command does with them. A
   * command with credentials has them too; no name may be in both. Default none.
   */
  readonly variables?: Variables
  /** Absolute. Default: the session's. */
  readonly cwd?: string
  /**
   * Milliseconds until the command is ended, with everything that it has started; `null` for no limit. Default 120 s. A
   * background process has no limit unless it names one.
   */
  readonly timeout?: number | null
  /** Default: the session that always is. */
  readonly sessionId?: string
  /** What it reads from standard input. Default: nothing, from /dev/null. */
  readonly stdin?: string | Uint8Array
  /** Aborting it ends the command; the outcome is `cancelled`. */
  readonly signal?: AbortSignal | undefined
  /** Called for each piece of output as it comes. The command waits while a promise of it is pending. */
  readonly onOutput?: ((chunk: OutputChunk) => void) | ((chunk: OutputChunk) => Promise<void>)
  /**
   * For a command with credentials: `workspace` makes /workspace its HOME, with all files that other commands have left
   * there.
   */
  readonly home?: 'workspace'
  /** Gives it a terminal of this size in place of pipes. What it prints is then all `stdout`. */
  readonly tty?: TerminalSize
}

export interface ExecResult {
  /** The command's, as events and the audit log name it. */
  readonly id: string
  /** Whether it ended on its own with exit code 0. */
  readonly success: boolean
  /** 124 when it was timed out, 130 when cancelled, 128 and the signal's number when killed. */
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
  /** What it used. Processor time and memory cover its shell and the processes that a parent has waited for. */
  readonly usage: Usage
  /** What was cut off because it was longer than `outputBytes`. */
  readonly truncated: readonly ('stdout' | 'stderr')[]
  readonly isolation: Isolation
  /** The limits that it reached, even if it continued and succeeded. Mostly empty. */
  readonly touched: readonly TouchedLimit[]
  /**
   * The layers that protected it and what enforced each limit, signed with the option `receipts`. A limit that holds
   * only in runs is `null` there, and `wallMs` is its `timeout`.
   */
  readonly receipt: Receipt
}

/** What protected a command. */
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
  /** Letters, digits, `.`, `_`, `-`. Default: a fresh one. */
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
  /** A name to find it by. Default: a fresh one. */
  readonly id?: string
}
