/** The interface of all runtimes: a request becomes a program to execute in a cell. The only side effect is reading files. */
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
  /** The working folder of a waiting program until its harness enters the workspace; absent if it starts there. */
  readonly waitsIn?: string
  /** Data that the engine reserves before it runs anything: RLIMIT_DATA is this plus the memory limit. */
  readonly baseDataBytes: number
}

/** What a runtime needs to know: the machine's toolchains, the packages for guests, and the guests' file view. */
export interface Ground {
  readonly toolchains: Toolchains
  readonly packages: PackageFolders
  readonly place: Place
}

/** The interpreter of a runtime: how to find it, and what to do if it is missing. */
export interface Toolchain {
  /** The interpreter's path on the host; null if there is none. */
  find(toolchains: Toolchains): string | null
  /** Its version, if that is known without running it. */
  version?(toolchains: Toolchains): string | undefined
  /** Instructions to install one. */
  fix(machine: { readonly libc: string }): string
  /** Whether sandboxes show it in /opt/lazaret/bin under the runtime's name. Otherwise it is in the system's folders. */
  readonly isShown: boolean
}

/** What a zygote must load, and for which guests. */
export interface ZygoteWishes {
  readonly language: Language
  readonly realm: Realm
  readonly preload: readonly string[]
  /** The limits of the guests that will be its forks. */
  readonly limits: Limits
  /** Folders that its cell shows, including those of `packages`. */
  readonly readable: readonly Bind[]
  readonly packages: PackageFolders
  readonly toolchains: Toolchains
}

/** An interpreter whose forks are guests; or a cell without one, in which guests are started. */
export interface ZygoteSupport {
  /**
   * Null if zygotes are not supported on this machine. Throws INVALID_REQUEST for requests that it cannot fulfil, and
   * RUNTIME_UNAVAILABLE if a part is missing.
   */
  plan(wishes: ZygoteWishes): ZygoteProgram | null
  /** A program whose value is `true` if forks work on this machine. A first fork must run it before others serve runs. */
  readonly proof?: string
  /** Whether the zygote's heap limit is fixed at its start, according to the memory limit of its guests. */
  readonly hasHeapLimit?: true
  /** Only where a cgroup counts each guest's processes. RLIMIT_NPROC counts those of all guests of a cell together. */
  readonly needsCgroup?: true
}

/** The complete definition of a runtime. registry.ts lists all of them. */
export interface Runtime {
  readonly name: CellRuntimeName
  readonly languages: readonly RunSpec['language'][]
  /** What can be parked: a program with the harness loaded, or only the finished cell. */
  readonly parks: 'program' | 'cell'
  readonly toolchain: Toolchain
  /** Absent if guests are never forks. */
  readonly zygote?: ZygoteSupport
  /**
   * Whether the harness may set a variable of this name after the process has started, with the same effect as at the start.
   * Absent if that is true of no variable.
   */
  readonly readsLate?: (name: string) => boolean
  /** Matches the paths of a request's files that the engine itself reads at its start. Absent if there are none. */
  readonly startFiles?: RegExp
  /** Throws RUNTIME_UNAVAILABLE with a hint if its toolchain is missing. */
  prepare(spec: RunSpec, limits: Limits, ground: Ground): Program
}

/** The environment variables of every guest, with those of the request. */
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
    // Without the guest's own view of files, git would fail, because it may not read the host's settings.
    ...(place.work === null ? {} : { TMPDIR: place.temporary, GIT_CONFIG_NOSYSTEM: '1' }),
    ...spec.env,
  }
}

/** The files of the request, with their paths in the workspace. */
export function workspaceFiles(spec: RunSpec, { workspace }: Place): ProgramFile[] {
  return Object.entries(spec.files ?? {}).map(([path, content]) => ({
    path: `${workspace}/${path}`,
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
  }))
}
