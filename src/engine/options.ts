/** The options of `createLazaret()`, and what it reports. What each option may be stands in option-table.ts. */
import type { Clock } from '../core/clock.ts'
import type { LimitName, Limits } from '../core/limits.ts'
import type { Language, RuntimeName } from '../core/request.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { UidRange } from '../jail/uid-range.ts'
import type { PoolSizes } from '../pool/shape.ts'
import type { ToolchainPaths } from '../runtimes/toolchains.ts'
import type { WorkEnd } from '../core/work-end.ts'
import type { WorkKind } from '../core/work.ts'
import type { Access } from '../policy/access.ts'
import type { OnAuditFailure } from '../observe/audit-log.ts'
import type { BreakerOptions } from '../policy/circuit-breaker.ts'
import type { RateOptions } from '../policy/rate-limiter.ts'
import type { QueueOptions } from '../policy/room-size.ts'
import type { Admit } from '../policy/admit.ts'

/** What happens while Lazaret works; for logs and metrics. */
export type LazaretEvent =
  /** A run, a command or another piece of work has ended, or was refused. */
  | {
      readonly type: 'work-ended'
      readonly kind: WorkKind
      readonly id: string
      readonly outcome: WorkEnd['outcome']
      /** Of a run its own time; of other work from the request to the end. */
      readonly wallMs: number
      /** Who asked, where the caller had said so. */
      readonly client?: string
      /** Of the error that was thrown. */
      readonly code?: string
      /** Of a program that exited by itself. */
      readonly exitCode?: number
      /** Of a run. */
      readonly runtime?: RuntimeName
      /** Of a run that was admitted: how long it waited. */
      readonly queuedMs?: number
    }
  /** A program was ended for its time; comes after the `work-ended` of it. */
  | {
      readonly type: 'timed-out'
      readonly kind: WorkKind
      readonly id: string
      readonly client?: string
      /** SHA-256 of the program's text, or of the command's, in hexadecimal. */
      readonly codeHash: string
      readonly durationMs: number
    }
  /** Workers of this kind cannot be started ahead, or end before their run; runs are started anew meanwhile. */
  | {
      readonly type: 'pool-failing'
      readonly runtime: RuntimeName
      readonly language: Language
      readonly reason: string
    }
  /** Records cannot be written any more. Comes once until they can be again. */
  | {
      readonly type: 'audit-failed'
      readonly reason: string
      readonly fix: string
    }
  /** Once: the machine refuses namespaces, and what runs from now on has a weaker wall. */
  | {
      readonly type: 'protection-lowered'
      readonly level: ProtectionLevel
      readonly reason: string
      readonly fix: string
    }

/** Where each piece of work is recorded when it has ended: docs/audit.md. */
export interface AuditOptions {
  /** One line of JSON a record. Created when it is not there; one Lazaret writes to it at a time. */
  readonly file: string
  /**
   * What happens when it cannot be written. `refuse`, the default: AUDIT_FAILED for work that could not be recorded and for
   * all that would begin. `continue`: only the event `audit-failed`. Records are held back, up to 10 000, until they can be
   * written; with `continue` nobody waits for that.
   */
  readonly onFailure?: OnAuditFailure
}

export interface ReceiptOptions {
  /** A private key of Ed25519 in PEM, readable by this user alone. `lazaret keys create` makes one. */
  readonly privateKeyFile: string
}

/** What an operator decides. In lazaret.config.json under the same names, all but those that are code. */
export interface LazaretOptions {
  /**
   * Below this level a run is refused with JAIL_UNAVAILABLE. Default `restricted`. Snippets have no cell, and so no level:
   * `pools: { snippet: { max: 0 } }` refuses them.
   */
  readonly minimumProtection?: ProtectionLevel
  /** Limits of a run that asks for none. */
  readonly defaults?: Partial<Limits>
  /** What a request may not go above; it is clamped, and its receipt says so. */
  readonly ceilings?: Partial<Limits>
  /** Interpreters to use instead of those that are found. */
  readonly toolchains?: ToolchainPaths
  /**
   * Host folders that every guest may read, and where they appear. Not where the guest's own folders or the system are.
   * Packages of JavaScript are found from /workspace when their `node_modules` appears as `/node_modules`:
   * `{ host: '/srv/app/node_modules', guest: '/node_modules' }`. One with sockets or named pipes is refused with
   * JAIL_UNAVAILABLE where cells cannot have a view of their own of it.
   */
  readonly readable?: readonly { readonly host: string; readonly guest: string }[]
  /**
   * How many workers of a runtime wait for runs: parked in their finished cells, each for one run. Kept from the second
   * request of a kind on, as many as demand makes use of. Default `{ min: 0, max: 8 }`; `max: 0` starts every run anew.
   * For `snippet` it is the number of threads, and 0 refuses snippets.
   */
  readonly pools?: PoolSizes
  /** Python modules that parked workers have imported, unless the request names others. */
  readonly preload?: readonly string[]
  /**
   * What callers may ask for beyond their own work; the rest is refused with ACCESS_DENIED. Default: no network, no
   * `preload` but the operator's, no folder of the host. A caller that passes requests on unread gives nothing away by it.
   */
  readonly access?: Access
  /**
   * How many runs there are at one time, how much memory is promised to runs and sandboxes, and who waits. What finds no room
   * waits, clients in turn, and is refused with QUEUE_FULL or CLIENT_QUEUE_FULL where too many do.
   */
  readonly queue?: QueueOptions
  /** How many executions each client may begin in a minute, or false for no limit. Default false. */
  readonly rate?: RateOptions | false
  /** Refuses at once what keeps failing: a runtime through our faults, a client by its timeouts. Default false. */
  readonly breaker?: BreakerOptions | false
  /** Host ids for cells, when started by root. Default 65 536 ids from 2 000 000 000. */
  readonly uidRange?: UidRange
  /** Limits that may go unenforced where nothing on the machine can hold them. */
  readonly allowUnenforced?: readonly LimitName[]
  /** A log of all work: who had what done, and how it ended, each record chained to the one before it. */
  readonly audit?: AuditOptions | false
  /** Every result carries a signature over what was run, how it ended and what stood around it. */
  readonly receipts?: ReceiptOptions | false
  /**
   * Called before any work begins, from every door: runs, commands, sandboxes, operations on files. If it throws, rejects
   * or answers `false`, the work is refused with NOT_ADMITTED; a LazaretError is thrown as it is.
   */
  readonly admit?: Admit
  /** Hears what happens while Lazaret works. */
  readonly onEvent?: (event: LazaretEvent) => void
  /** For tests. */
  readonly clock?: Clock
}

/** Options that no file can hold. */
export type CodeOptionName = 'admit' | 'onEvent' | 'clock'

/** With every gap filled. */
export type ParsedOptions = Required<Omit<LazaretOptions, CodeOptionName>> &
  Pick<LazaretOptions, CodeOptionName>
