/** The seam every runtime meets: a request becomes a program to execute in a cell. Pure but for looking at files. */
import type { Limits } from '../core/limits.ts'
import type { CellRuntimeName, RunRequest } from '../core/request.ts'
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

export interface Runtime {
  readonly name: CellRuntimeName
  readonly languages: readonly RunRequest['language'][]
  /** What can wait for a run: a program with our harness in it, or the finished cell alone. */
  readonly parks: 'program' | 'cell'
  /** Throws RUNTIME_UNAVAILABLE, with the fix, when its toolchain is missing. */
  prepare(request: RunRequest, limits: Limits, ground: Ground): Program
}

/** What every guest finds in its environment, before what the request adds. */
export function guestEnvironment(
  request: RunRequest,
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
    ...request.env,
  }
}

/** The request's own files, at their places in the workspace. */
export function workspaceFiles(request: RunRequest, { workspace }: Place): ProgramFile[] {
  return Object.entries(request.files ?? {}).map(([path, content]) => ({
    path: `${workspace}/${path}`,
    bytes: typeof content === 'string' ? Buffer.from(content) : content,
  }))
}
