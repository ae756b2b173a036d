/**
 * The receipt of a run, and what is stated of any piece of work when it has ended: the record of the audit log, and what
 * the signature of a receipt covers. A statement is plain JSON. It has sizes and hashes of what a caller sent, and nothing
 * of that itself; and nothing that a guest wrote.
 */
import type { LimitMechanism, LimitName, Limits } from './limits.ts'
import type { Protection } from './protection.ts'
import type { Language, NetworkMode, RuntimeName } from './request.ts'
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
  /** With the option `receipts`: what is stated of this run, signed. `verifyReceipt()` of `lazaret/observe` checks it. */
  readonly signature?: SignedStatement
}

/** Of bytes, or of a text as UTF-8. */
export interface Digest {
  /** In hexadecimal. */
  readonly sha256: string
  readonly bytes: number
}

export interface Statement {
  /** Of this form. */
  readonly version: 1
  /** When the work had ended, ISO 8601. */
  readonly time: string
  readonly id: string
  readonly kind: WorkKind
  /** Whether its caller had a name. The name itself is the caller's text, and stands in the audit log alone. */
  readonly clientClass: 'named' | 'anonymous'
  /** The id of the sandbox that it was done in. */
  readonly sandbox?: string
  readonly language?: Language
  readonly runtime?: RuntimeName
  /** As the interpreter says it. */
  readonly runtimeVersion?: string
  readonly network?: NetworkMode
  readonly operation?: FileOperation
  /** How many workers were to wait. */
  readonly count?: number
  /** How many variables a command was given as credentials. */
  readonly credentials?: number
  /** The program's text, or the command's. */
  readonly code?: Digest
  /** Of a text its own; of any other value that of its tagged encoding. */
  readonly input?: Digest
  readonly stdin?: Digest
  /** The hash of the canonical JSON of an object with the hash of each file under its path. */
  readonly files?: Digest
  readonly outcome: WorkOutcome
  readonly exitCode?: number
  /** The code of the refusal or fault. */
  readonly error?: string
  /** Of a program its own time; of other work from the request to the end. */
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

/** A statement that somebody answers for. */
export interface SignedStatement extends Signature {
  readonly statement: Statement
}
