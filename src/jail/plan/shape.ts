/** The input of a plan: the shape, which the request decides, and the ground, which the machine gives. */
import type { NetworkMode } from '../../core/network.ts'
import type { EdgeGround } from './door-records.ts'
import type { Place } from './place.ts'

/** A host path that appears read-only inside. */
export interface Bind {
  readonly host: string
  readonly guest: string
  /** Whether no part of `host` was a link when it was checked. Then it is shown only if that is still so. */
  readonly isReal?: true
}

/** What a cell must look like; everything that the plan depends on and the request decides. */
export interface CellShape {
  /** Toolchains and the operator's readable folders. */
  readonly binds: readonly Bind[]
  readonly network: NetworkMode
  /** Where guests find things; a cell without its own view of files is built without namespaces. */
  readonly place: Place
  /** Size of /workspace, and again of /tmp. */
  readonly diskBytes: number
  /** How many ids its guests have, if they are forked in their own spaces. Default 1. */
  readonly guests?: number
  /** Lazaret's own files, by their paths below /opt/lazaret. */
  readonly files?: Readonly<Record<string, string>>
  /** Whether it is a sandbox's, with a place where a space may have its own home. */
  readonly isSandbox?: boolean
  /** Whether all its processes are in spaces, each of which mounts its own parts over the view. */
  readonly isTemplate?: boolean
  /** A folder of the host that is its /workspace, for its guests to write to. */
  readonly workspace?: string
  /** In the host's network: TCP ports that its guests may not bind. */
  readonly protectedPorts?: readonly number[]
}

/** The cell's identity on the host. */
export type CellIdentity =
  /** Started by root: two host ids of its own, for pid 1 and for the guests. */
  | { readonly kind: 'own'; readonly firstId: number }
  /** Started by an ordinary user: that user's id, seen as 1000 inside. */
  | { readonly kind: 'shared'; readonly uid: number; readonly gid: number }

/**
 * What a cell is made of, best first: namespaces; without them Landlock on the host's own files; or, only where the
 * operator names `none`, a process that is filtered and ended on time and sees every file that its user sees.
 */
export const walls = ['namespaces', 'landlock', 'none'] as const
export type Wall = (typeof walls)[number]

/** What the machine gives to this cell. */
export interface CellGround {
  readonly wall: Wall
  readonly identity: CellIdentity
  /** Files to write `0` to, one for each cgroup hierarchy. Empty without a cgroup. */
  readonly cgroupJoins: readonly string[]
  readonly memoryHeldByCgroup: boolean
  /** Files that should be cached before guests read them. */
  readonly readAhead?: readonly string[]
  readonly architecture: 'x64' | 'arm64'
  /** Set if it has a network policy. */
  readonly edge?: EdgeGround | undefined
  /** The existing host paths among those that make up the view. */
  readonly hostView: HostView
}

/** The parts of the host's own system that every cell shows, read-only. */
export interface HostView {
  /** Folders to bind at their own path, such as /usr. */
  readonly folders: readonly string[]
  /** Links at the root, such as /bin → usr/bin. */
  readonly links: readonly { readonly path: string; readonly target: string }[]
  /** Files and folders of /etc to bind at their own path. */
  readonly etc: readonly string[]
  /** The database of the system's packages, for sandboxes. */
  readonly database: readonly string[]
  /** Small files of /etc, and those of /sys that number the processors, with their text, for sandboxes. */
  readonly texts: Readonly<Record<string, string>>
  /** A program that creates links beside itself: in sandboxes, it is linked where commands can write. */
  readonly corepack?: string | undefined
  /** Folders for which the kernel has refused the cell's own view; they are shown with the host's inodes. */
  readonly refusedLowers: readonly string[]
  /** The host's resolv.conf, for cells that share its network. */
  readonly resolvConf: string
}

/** The id of every guest, as it sees itself. */
export const guestId = 1000
