/** The seam every runtime meets: a request becomes a program to execute in a cell. Pure but for looking at files. */
import type { Limits } from '../core/limits.ts'
import type { CellRuntimeName, Language, Realm, RunSpec } from '../core/request.ts'
import type { Place } from '../jail/plan/place.ts'
import type { Bind } from '../jail/plan/shape.ts'
import type { ZygoteProgram } from '../jail/cell/zygote-cell.ts'
import type { GuestRequest } from './channel/channel-protocol.ts'
import type { PackageFolders } from './packages/guest-packages.ts'
import type { Toolchains } from './packages/toolchains.ts'

/** A file placed in the cell before the program starts, by absolute guest path. */
export interface ProgramFile {
  readonly path: string
  readonly bytes: Uint8Array
  readonly mode?: number
}

/** What to execute in the cell for one run. */
export interface Program {
  readonly file: string
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly binds: readonly Bind[]
  readonly files: readonly ProgramFile[]
  /** Sent to the harness on the private channel; absent for runtimes without a harness. */
  readonly guestRequest?: GuestRequest
  /** Data that the engine reserves before it runs anything: RLIMIT_DATA is this plus the memory limit. */
  readonly baseDataBytes: number
}

/** What a runtime finds on this machine: its toolchains, packages for its guests, and where these will find things. */
export interface Ground {
  readonly toolchains: Toolchains
  readonly packages: PackageFolders
  readonly place: Place
}

/** The interpreter of a runtime: how to find it, and what to do if it is missing. */
export interface Toolchain {
  /** The interpreter's path on the host; null if there is none. */
  find(toolchains: Toolchains): string | null
  /** Its version, if it is known without running the interpreter. */
  version?(toolchains: Toolchains): string | undefined
  /** How a person can install one. */
  fix(machine: { readonly libc: string }): string
  /** Whether sandboxes have it in /opt/lazaret/bin, under the runtime's name; else the machine's own folders have it. */
  readonly isShown: boolean
}

/** What a zygote must load. */
export interface ZygoteWishes {
  readonly language: Language
  readonly realm: Realm
  readonly preload: readonly string[]
  /** The limits of the guests that will be its forks. */
  readonly limits: Limits
  /** Folders that it shows, those of `packages` among them. */
  readonly readable: readonly Bind[]
  readonly packages: PackageFolders
  readonly toolchains: Toolchains
}

/** An interpreter whose forks are guests. */
export interface ZygoteSupport {
  /**
   * Null if there is none. Throws INVALID_REQUEST for requests that it cannot meet, and RUNTIME_UNAVAILABLE if a part
   * is missing.
   */
  plan(wishes: ZygoteWishes): ZygoteProgram | null
  /** A program whose value is `true` if forks work on this machine. A first one has to run it, before any serves a run. */
  readonly proof?: string
  /** Whether its heap has a limit from its start, by the memory of its guests. */
  readonly hasHeapLimit?: true
}

/** All that there is to say of a runtime. It is entered in registry.ts. */
export interface Runtime {
  readonly name: CellRuntimeName
  readonly languages: readonly RunSpec['language'][]
  /** What can wait for a run: a program with our harness in it, or the finished cell alone. */
  readonly parks: 'program' | 'cell'
  readonly toolchain: Toolchain
  /** Absent where guests are never forks. */
  readonly zygote?: ZygoteSupport
  /**
   * Whether a program finds a variable of this name in the same places if the harness sets it, as if the process had been
   * started with it. Absent where that is true of none.
   */
  readonly readsLate?: (name: string) => boolean
  /** Throws RUNTIME_UNAVAILABLE, with the fix, when its toolchain is missing. */
  prepare(spec: RunSpec, limits: Limits, ground: Ground): Program
}

/** What every guest finds in its environment, before what the request adds. */
export function guestEnvironment(
  spec: RunSpec,
  place: Place,
  toolchainFolders: readonly string[] = [],
): Record<string, string> {
  return {
    PATH: [...toolchainFolders, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: place.workspace,
    USER: 'guest',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    // Without a view of files of its own: git ends where it may not read the settings of the host.
    ...(place.work === null ? {} : { TMPDIR: place.temporary, GIT_CONFIG_NOSYSTEM: '1' }),
    ...spec.env,
  }
}

/** The request's own files, at their places in the workspace. */
export function workspaceFiles(spec: RunSpec, { workspace }: Place): ProgramFile[] {
  return Object.entries(spec.files ?? {}).map(([path, content]) => ({
    path: `${workspace}/${path}`,
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
  }))
}
