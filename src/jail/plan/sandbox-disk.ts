/**
 * The writable file systems of a sandbox. The workspace and HOME share one, which lasts as long as the sandbox; /tmp
 * and /run share another, of which each space has its own. A secure space has its own HOME over the shared one.
 * Stops: taking more than the disk limit by using several folders. Does not stop: filling it for the sandbox's other
 * commands.
 */
import type { DividedTmpfsRecord, TmpfsPart } from './divided-tmpfs.ts'
import type { PlanRecord } from './plan-records.ts'
import { guestHome } from './place.ts'
import { guestId } from './shape.ts'
import type { CellShape, HostView } from './shape.ts'
import { diskRoom, passingBytes, tmpfsSize } from '../limits/disk.ts'

const noSuid = 2
const noDevices = 4
const flags = noSuid | noDevices

/** Where a disk is mounted until `pivot` leaves it behind; what appears of it elsewhere stays. */
const diskSite = '/proc'

/** Mount points, on the cell's own root, to which no one writes. */
export const sandboxFolders = ['/workspace', guestHome, '/tmp', '/run', '/var']

const ownedBy = { uid: guestId, gid: guestId }

/** Where programs are installed for one user. It exists from the start, so that it is on everybody's PATH. */
const ownPrograms = '.local/bin'

/** A workspace of the host lies in a slot; HOME has the disk to itself then. */
export function planSandboxDisk(
  { diskBytes, workspace }: CellShape,
  { corepack }: HostView,
  workspaceSlot: number,
): PlanRecord[] {
  const home: TmpfsPart[] = [
    { name: 'home', mode: 0o755, path: guestHome.slice(1) },
    { name: 'home/.local', mode: 0o755 },
    { name: `home/${ownPrograms}`, mode: 0o755 },
    // `npm ls -g` fails without it.
    { name: 'home/.local/lib', mode: 0o755 },
  ]
  const programs: PlanRecord[] =
    corepack === undefined
      ? []
      : [{ do: 'symlink', target: corepack, path: `${guestHome.slice(1)}/${ownPrograms}/corepack` }]
  if (workspace !== undefined)
    return [
      divided(diskSite, diskBytes, home),
      ...programs,
      { do: 'bind', slot: workspaceSlot, path: 'workspace' },
    ]
  const inMemory = { name: 'workspace', mode: 0o755, path: 'workspace' }
  return [divided(diskSite, diskBytes, [...home, inMemory]), ...programs]
}

/** The folders for temporary files, and in a secure space its HOME. */
export function planPassingDisks(
  { diskBytes }: CellShape,
  { hasHome }: { readonly hasHome: boolean },
): PlanRecord[] {
  const bytes = passingBytes(diskBytes)
  const size = tmpfsSize(diskRoom(bytes))
  const owned = `mode=0755,uid=${guestId},gid=${guestId},${size}`
  const home: PlanRecord = { do: 'mount', type: 'tmpfs', path: guestHome, flags, options: owned }
  return [divided('/run', bytes, passingParts), ...(hasHome ? [home] : [])]
}

const passingParts: readonly TmpfsPart[] = [
  { name: 'tmp', mode: 0o1777, path: '/tmp' },
  { name: 'lock', mode: 0o1777 },
  { name: 'user', mode: 0o755 },
  { name: `user/${guestId}`, mode: 0o700 },
]

function divided(path: string, bytes: number, parts: readonly TmpfsPart[]): DividedTmpfsRecord {
  const options = `mode=0755,uid=${guestId},gid=${guestId},${tmpfsSize(diskRoom(bytes))}`
  return { do: 'divided-tmpfs', path, flags, options, ...ownedBy, parts }
}
