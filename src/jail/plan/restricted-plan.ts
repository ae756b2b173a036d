/**
 * The plan of a cell where the machine refuses namespaces: the host's own view of files, narrowed by Landlock to what
 * is listed; a seccomp filter that refuses sockets, queues and the scheduling of others; and a warden instead of pid 1.
 * Stops: reading and writing files that are not listed, every network, signals to anything outside. Does not stop:
 * seeing that a path or a process exists; what the host's /proc says of the machine.
 */
import { wardenCapabilities } from './capabilities.ts'
import { planHostLandlock } from './host-landlock.ts'
import { layersOf, promisesOf } from '../layers/layers.ts'
import { diskRoom } from '../limits/disk.ts'
import { countLocks } from '../machine/locks.ts'
import type { CellPlan } from './plan.ts'
import type { PlanRecord } from './plan-records.ts'
import { seccompProgram } from '../seccomp/program.ts'
import type { CellGround, CellIdentity, CellShape, HostView } from './shape.ts'
import { planReadAhead } from '../view/read-ahead.ts'
import { listSources } from '../view/sources.ts'

export function planRestrictedCell(shape: CellShape, ground: CellGround, work: string): CellPlan {
  const { identity, cgroupJoins, hostView } = ground
  const guest = guestIds(identity)
  const confine = { do: 'confine', needsScope: ground.wall !== 'none' } as const
  const records: PlanRecord[] = [
    ...planReadAhead(ground),
    ...cgroupJoins.map((path, slot): PlanRecord => ({ do: 'open-write', slot, path })),
    {
      do: 'work',
      path: work,
      ...guest,
      ...diskRoom(shape.diskBytes),
    },
    // Engines search for it in the folders above a program; this one ends the search before it reaches the host's.
    { do: 'file', path: 'package.json', mode: 0o444, content: Buffer.from('{}\n') },
    ...planLinks(shape),
    ...planIdentity(identity),
    countLocks,
    confine,
    { do: 'warden' },
    confine,
    ...cgroupJoins.map((_, slot): PlanRecord => ({ do: 'join', slot })),
    ...(ground.wall === 'none' ? [] : [planFence(shape, hostView)]),
    {
      do: 'guest-filter',
      program: seccompProgram({
        architecture: ground.architecture,
        memoryHeldByCgroup: ground.memoryHeldByCgroup,
        keepsAdopting: shape.isSandbox === true,
        sharesHost: { network: shape.network === 'host', owner: identity.kind === 'shared' },
      }),
    },
    { do: 'serve' },
  ]
  const layers = layersOf(records)
  return { wall: ground.wall, records, layers, promises: promisesOf(layers) }
}

function planFence(shape: CellShape, view: HostView): PlanRecord {
  const sources = listSources(shape, view).filter(({ guest }) => !guest.startsWith('/dev/'))
  const readable = sources.map(({ host }) => host)
  const { place, network } = shape
  return { do: 'guest-landlock', policy: planHostLandlock({ readable, place, network }) }
}

function guestIds(identity: CellIdentity): { uid: number; gid: number } {
  if (identity.kind === 'shared') return { uid: identity.uid, gid: identity.gid }
  return { uid: identity.firstId + 1, gid: identity.firstId + 1 }
}

/** Before the ids change, the folder is root's; guests get two folders in it, and the warden the rest. */
function planIdentity(identity: CellIdentity): PlanRecord[] {
  if (identity.kind === 'shared') return []
  const { firstId } = identity
  return [
    { do: 'take-ids', uid: firstId, gid: firstId, mask: wardenCapabilities },
    { do: 'guest-ids', ...guestIds(identity) },
  ]
}

/**
 * Folders that the operator shows under another name appear beside the workspace: engines search for modules in the
 * folders above it, and `/node_modules` is there as a link.
 */
function planLinks(shape: CellShape): PlanRecord[] {
  const links = shape.binds.filter(({ host, guest }) => host !== guest && !guest.startsWith('/opt/lazaret/'))
  const made = new Set<string>()
  return links.flatMap(({ host, guest }) => [
    ...planParents(guest, made),
    { do: 'symlink', target: host, path: guest.slice(1) } as const,
  ])
}

function planParents(guest: string, made: Set<string>): PlanRecord[] {
  const parts = guest.split('/').slice(1, -1)
  const parents = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  const missing = parents.filter((path) => !made.has(path))
  for (const path of missing) made.add(path)
  return missing.map((path) => ({ do: 'directory', path, mode: 0o755 }))
}
