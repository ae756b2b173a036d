/** The options of `createLazaret()`, and what it reports. option-table.ts says what each option may be. */
import type { NetworkTotals } from '../../core/network.ts'
import type { Clock } from '../../core/clock.ts'
import type { LimitName, Limits } from '../../core/limits.ts'
import type { Preload } from '../../core/preload.ts'
import type { Language, RuntimeName } from '../../core/request.ts'
import type { ProtectionLevel } from '../../core/protection.ts'
import type { LeftBehind } from '../../jail/machine/machine.ts'
import type { UidRange } from '../../jail/machine/uid-range.ts'
import type { PoolSizes } from '../../pool/shape.ts'
import type { EnvironmentsOptions } from '../../environments/environments-folder.ts'
import type { PackageFolders } from '../../runtimes/packages/guest-packages.ts'
import type { ToolchainPaths } from '../../runtimes/packages/toolchains.ts'
import type { StartKind } from '../../core/receipt.ts'
import type { ReachedLimit, WorkEnd } from '../../core/work-end.ts'
import type { WorkKind } from '../../core/work.ts'
import type { Access } from '../../policy/access.ts'
import type { OnAuditFailure } from '../../observe/audit-log.ts'
import type { BreakerOptions } from '../../policy/circuit-breaker.ts'
import type { RateOptions } from '../../policy/rate-limiter.ts'
import type { QueueOptions } from '../../policy/room-size.ts'
import type { Admit } from '../../policy/admit.ts'

/** What happens while Lazaret works; for logs and metrics. */
export type LazaretEvent =
  /** A run, a command or another piece of work was admitted, and begins. */
  | {
      readonly type: 'work-started'
      readonly kind: WorkKind
      readonly id: string
      /** Who asked, if the caller said so. */
      readonly client?: string
      /** The language of a run or a code context. */
      readonly language?: Language
      readonly runtime?: RuntimeName
      /** The sandbox of a command, a process, an operation on files, a code context or its code. */
      readonly sandbox?: string
      /** The code context of code. */
      readonly context?: string
      /** How long it waited for the policy. A run may then also wait for a worker. */
      readonly queuedMs: number
    }
  /** A run, a command or another piece of work has ended, or was refused. */
  | {
      readonly type: 'work-ended'
      readonly kind: WorkKind
      readonly id: string
      readonly outcome: WorkEnd['outcome']
      /** For a run, its own time; for other work, the time from the request to the end. */
      readonly wallMs: number
      /** Who asked, if the caller said so. */
      readonly client?: string
      /** The code of the error that was thrown. */
      readonly code?: string
      /** The exit code of a program that exited on its own. */
      readonly exitCode?: number
      /** Which limit ended it. */
      readonly limit?: ReachedLimit
      /** The sandbox of a command, a process, an operation on files, a code context or its code. */
      readonly sandbox?: string
      /** The code context of code. */
      readonly context?: string
      /** Only for a run, like the members below. A code context and its code have a language too. */
      readonly language?: Language
      readonly runtime?: RuntimeName
      /** How its guest was started. */
      readonly start?: StartKind
      /** How long it waited, for the policy and for a worker. */
      readonly queuedMs?: number
      readonly cpuMs?: number
      readonly memoryPeakBytes?: number
      /** Which limits the operator's ceilings lowered. */
      readonly clamped?: readonly LimitName[]
      /** Totals of its activity under a network policy; the receipt names the hosts. */
      readonly network?: NetworkTotals
    }
  /** A sandbox is gone, with everything in it. */
  | { readonly type: 'sandbox-ended'; readonly id: string; readonly client?: string }
  /** A program exceeded its time and was ended; comes after its `work-ended`. */
  | {
      readonly type: 'timed-out'
      readonly kind: WorkKind
      readonly id: string
      readonly client?: string
      /** SHA-256 of the text of the program or command, in hexadecimal. */
      readonly codeHash: string
      readonly durationMs: number
    }
  /** Workers of this kind cannot be started ahead, or end before their run; until that changes, runs start cold. */
  | {
      readonly type: 'pool-failing'
      readonly runtime: RuntimeName
      readonly language: Language
      readonly reason: string
    }
  /** Bun or Node cannot be forked here, or the test of its forks failed; its workers are parked one by one instead. */
  | {
      readonly type: 'zygote-failing'
      readonly runtime: RuntimeName
      readonly language: Language
      readonly reason: string
    }
  /** Records can no longer be written. Sent once, until they can be written again. */
  | {
      readonly type: 'audit-failed'
      readonly reason: string
      readonly fix: string
    }
  /**
   * Hosts that were killed had left cgroups or folders behind, which are gone now. Cgroups and folders of the host itself
   * are looked for when a Lazaret is created, folders of runs when the machine first refuses namespaces.
   */
  | {
      readonly type: 'leftovers-removed'
      readonly left: LeftBehind
      /** Of how many hosts. */
      readonly hosts: number
    }
  /** Sent once: the machine refuses namespaces, so runs from now on have a lower level of protection. */
  | {
      readonly type: 'protection-lowered'
      readonly level: ProtectionLevel
      readonly reason: string
      readonly fix: string
    }

/** The log that records each piece of work when it has ended: docs/operate/audit.md. */
export interface AuditOptions {
  /**
   * One line of JSON for each record. Created if it does not exist; only one Lazaret at a time writes to it. Or
   * `/dev/stdout` or `/dev/stderr`, whose records are a chain from each start on.
   */
  readonly file: string
  /**
   * What happens when it cannot be written. `refuse`, the default: work that could not be recorded, and all new work,
   * fails with AUDIT_FAILED. `continue`: only the event `audit-failed`. Up to 10 000 records are kept until they can be
   * written; with `continue` work does not wait for that.
   */
  readonly onFailure?: OnAuditFailure
}

export interface ReceiptOptions {
  /** A private Ed25519 key in PEM that only this user can read. `lazaret keys create` makes one. */
  readonly privateKeyFile: string
}

/** What an operator decides. lazaret.config.json has the same names, except for options that are code. */
export interface LazaretOptions {
  /**
   * Below this level Lazaret refuses work with JAIL_UNAVAILABLE, which says how to raise the level or accept less.
   * Default `standard`. Snippets have no cell and therefore no level: `pools: { snippet: { max: 0 } }` refuses them.
   */
  readonly minimumProtection?: ProtectionLevel
  /** Limits of a run that asks for none. A default above its ceiling is lowered, and receipts say so in `clamped`. */
  readonly defaults?: Partial<Limits>
  /** Upper bounds on what requests may ask for; a higher limit is lowered, and the receipt says so. */
  readonly ceilings?: Partial<Limits>
  /** Interpreters to use instead of the ones that Lazaret finds. */
  readonly toolchains?: ToolchainPaths
  /**
   * Host folders that every guest may read, and the paths where they appear, which may not be inside folders of the
   * guest or the system. Programs in /workspace find JavaScript packages if their `node_modules` appears as
   * `/node_modules`: `{ host: '/srv/app/node_modules', guest: '/node_modules' }`. If cells cannot have their own view
   * of a folder, and it has sockets or named pipes, it is refused with JAIL_UNAVAILABLE.
   */
  readonly readable?: readonly { readonly host: string; readonly guest: string }[]
  /**
   * Folders of packages that every guest can import: in runs, in sandboxes and in idle workers. Each folder in `python`
   * is on the import path, before the interpreter's own packages; `node` is a `node_modules`, whose packages programs
   * in /workspace find. Guests can read them but not write them. Packages with compiled parts must be built for the
   * interpreter that guests run on, which `lazaret doctor` names. Default none.
   */
  readonly packages?: PackageFolders
  /**
   * Where environments are stored, how large one may be, and what their builds may reach. By default, `folder` is
   * `lazaret/environments` in `$XDG_DATA_HOME` or else in `~/.local/share`, `bytesMax` is 1 GiB, and `packageHosts` is
   * empty, so that builds reach only the package sources.
   */
  readonly environments?: EnvironmentsOptions
  /**
   * How many workers of a runtime are kept ready, parked in finished cells, each for one run. From the second request
   * of a kind on, the number follows demand. Default `{ min: 0, max: 8 }`; with `max: 0` every run starts cold. For
   * `snippet` it is the number of threads, and 0 refuses snippets. `forks` says whether workers of Python, Bun and Node
   * are forks of one interpreter, where they can be, and whether shell runs share the view of one cell. Default true;
   * `client` gives each client its own.
   */
  readonly pools?: PoolSizes
  /** Python modules, or packages by language, that workers load ahead of a run, unless the request names others. */
  readonly preload?: Preload
  /**
   * What callers may ask for beyond their own work; the rest is refused with ACCESS_DENIED. By default a request gets
   * no network, no `preload` of its own and no folder of the host; variables (`env`) are allowed, because they reach
   * only the guest. So a service may pass requests on unread.
   */
  readonly access?: Access
  /**
   * How many runs are active at one time, how much memory is promised to runs and sandboxes, and how many requests
   * queue. Clients are admitted in turn; when the queue is full, a request is refused with QUEUE_FULL or
   * CLIENT_QUEUE_FULL.
   */
  readonly queue?: QueueOptions
  /** How many executions each client may begin in a minute, or false for no limit. Default false. */
  readonly rate?: RateOptions | false
  /**
   * Refuses work that keeps failing: of a runtime after faults of Lazaret, of a client after timeouts. Default false.
   */
  readonly breaker?: BreakerOptions | false
  /** The host ids that cells get if root starts Lazaret. Default 65 536 ids from 2 000 000 000. */
  readonly uidRange?: UidRange
  /** Limits that may go unenforced if the machine cannot enforce them. */
  readonly allowUnenforced?: readonly LimitName[]
  /** A log of all work: the client, the work and its end; each record has the hash of the previous one. */
  readonly audit?: AuditOptions | false
  /** Signs every result: what ran, how it ended and which layers protected it. */
  readonly receipts?: ReceiptOptions | false
  /**
   * Called before any work starts: runs, commands, sandboxes, file operations. If it throws, rejects or returns
   * `false`, the work is refused with NOT_ADMITTED; a LazaretError is thrown unchanged.
   */
  readonly admit?: Admit
  /** Receives the events of all work. */
  readonly onEvent?: (event: LazaretEvent) => void
  /** For tests. */
  readonly clock?: Clock
}

/** Options that no file can hold. */
export type CodeOptionName = 'admit' | 'onEvent' | 'clock'

/** The options with every default filled in. */
export type ParsedOptions = Required<Omit<LazaretOptions, CodeOptionName>> &
  Pick<LazaretOptions, CodeOptionName>
