/**
 * The receipt of a run or a command, and the statement about any finished work: the audit log records it, and a
 * receipt's signature covers it. A statement is plain JSON. It has sizes and hashes of what a caller sent, but not the
 * contents. The only guest text in it is the names of hosts that the guest asked for, of which only letters, digits,
 * `.`, `-`, `_` and `:` remain.
 */
import type { LimitMechanism, LimitName, Limits } from './limits.ts'
import type { Protection } from './protection.ts'
import type { NetworkMode, NetworkReport } from './network.ts'
import type { Language, RuntimeName } from './request.ts'
import type { RiskLevel } from './validation.ts'
import type { FileOperation, WorkKind, WorkOutcome } from './work.ts'

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
 * How the guest started: `cold`, for this run; `parked`, in a cell that was built ahead of the run (for shell, maybe a
 * space of a cell that other runs share); `forked`, also ahead, as a fork of an interpreter that never runs guest code.
 */
export type StartKind = 'cold' | 'parked' | 'forked'

/** The program that a guest runs on. */
export interface Interpreter {
  /** On the host. */
  readonly path: string
  readonly version?: string
  readonly because: FoundBy
}

/**
 * Why this one: `configured`, the option `toolchains` names it; `own`, it is the one that runs Lazaret; `packaged`, it
 * came with an npm package; `path`, it is the first suitable one on PATH; `system`, it is the system's own.
 */
export type FoundBy = 'configured' | 'own' | 'packaged' | 'path' | 'system'

/** What really protected this run or command, as observed, not as configured. */
export interface Receipt {
  readonly start: StartKind
  readonly runtime: RuntimeName
  /** Only for a run in its own process. Commands of a sandbox use the Node, Bun and Python of this list. */
  readonly interpreter?: Interpreter
  readonly protection: Protection
  /** The layers that were applied, by name, e.g. `pid-namespace`, `seccomp`, `landlock-7`. */
  readonly layers: readonly string[]
  /** The value in force and the mechanism that enforces it, for each limit. */
  readonly limits: Readonly<
    Record<LimitName, { readonly value: Limits[LimitName]; readonly by: LimitMechanism }>
  >
  /**
   * Limits of the request, or else of the operator's defaults, that the operator's ceilings lowered. For a command,
   * those of its sandbox: see `Sandbox.clamped`.
   */
  readonly clamped: readonly LimitName[]
  /** Facts the kernel stated about the guest process, e.g. `NoNewPrivs`, `Seccomp`, `CapBnd`, `uid_map`. */
  readonly observed: Readonly<Record<string, string>>
  /** With a network policy: the hosts that the guest reached, and those that were refused. */
  readonly network?: NetworkReport
  /** With the option `receipts`: the signed statement. `verifyReceipt()` of `lazaret/observe` checks it. */
  readonly signature?: SignedStatement
}

/** The hash and size of bytes, or of a text as UTF-8. */
export interface Digest {
  /** In hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

/** What validation found, without the texts: they quote the program. */
export interface StatedValidation {
  readonly riskLevel: RiskLevel
  /** The number of reported findings of each rule. */
  readonly rules: Readonly<Record<string, number>>
}

export interface Statement {
  /** The version of this format. */
  readonly version: 1
  /** When the work ended, ISO 8601. */
  readonly time: string
  readonly id: string
  readonly kind: WorkKind
  /** Whether the caller named a client. The name itself is the caller's text, and is only in the audit log. */
  readonly clientClass: 'named' | 'anonymous'
  /** The id of the sandbox in which it was done. */
  readonly sandbox?: string
  /** The id of the code context in which it was done. */
  readonly context?: string
  readonly language?: Language
  readonly runtime?: RuntimeName
  /** The version that the interpreter reports. */
  readonly runtimeVersion?: string
  readonly network?: NetworkMode | 'policy'
  readonly service?: 'jupyter'
  readonly operation?: FileOperation
  /** The port of a sandbox that was opened to programs of the host. */
  readonly port?: number
  /** How many workers were requested. */
  readonly count?: number
  /** How many credentials a command had. */
  readonly credentials?: number
  /** The text of the program or the command. */
  readonly code?: Digest
  /** The hash of a text itself; for any other value, of its tagged encoding. */
  readonly input?: Digest
  readonly stdin?: Digest
  /** The hash of the canonical JSON of an object that maps each path to the hash of its file. */
  readonly files?: Digest
  /** If validation read the program. */
  readonly validation?: StatedValidation
  readonly outcome: WorkOutcome
  readonly exitCode?: number
  /** The code of the refusal or fault. */
  readonly error?: string
  /** For a program, its own time; for other work, the time from the request to the end. */
  readonly durationMs: number
  readonly usage?: Usage
  readonly protection?: Protection
  readonly receipt?: Omit<Receipt, 'signature'>
}

/** An Ed25519 signature over the canonical JSON of the statement. */
export interface Signature {
  /** The SHA-256 of the public key's SPKI form, in hexadecimal. */
  readonly keyId: string
  /** Base64. */
  readonly value: string
}

/** A signed statement. */
export interface SignedStatement extends Signature {
  readonly statement: Statement
}
