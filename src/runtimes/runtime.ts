/** The seam every runtime meets: a request becomes a program to execute in a cell. Pure but for looking at files. */
import type { Limits } from '../core/limits.ts'
import type { CellRuntimeName, RunSpec } from '../core/request.ts'
import type { Place } from '../jail/place.ts'
import type { Bind } from '../jail/shape.ts'
import type { GuestRequest } from './channel-protocol.ts'
import type { Toolchains } from './toolchains.ts'

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

/** What a runtime finds on this machine: its toolchains, and where its guests will find things. */
export interface Ground {
  readonly toolchains: Toolchains
  readonly place: Place
}

/** The interpreter of a runtime: where it is found, and what to do where it is not. */
export interface Toolchain {
  /** On the host; null where there is none. */
  find(toolchains: Toolchains): string | null
  /** Its version, where it is known without asking it. */
  version?(toolchains: Toolchains): string | undefined
  /** What a person can do to have one. */
  fix(machine: { readonly libc: string }): string
  /** Whether sandboxes have it in /opt/lazaret/bin, under the runtime's name; else the machine's own folders have it. */
  readonly isShown: boolean
}

/** All that there is to say of a runtime. It is entered in registry.ts. */
export interface Runtime {
  readonly name: CellRuntimeName
  readonly languages: readonly RunSpec['language'][]
  /** What can wait for a run: a program with our harness in it, or the finished cell alone. */
  readonly parks: 'program' | 'cell'
  readonly toolchain: Toolchain
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
