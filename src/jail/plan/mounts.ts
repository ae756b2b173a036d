/**
 * Mounts: the whole view of files, as records. The view is built on our own tmpfs; every mount point lies on it, never
 * below a folder that guest code can write, and the workspace comes last, as a leaf.
 * Stops: seeing or changing any file of the host that is not listed. Does not stop: reading what is listed; the host
 * paths of binds can be read in /proc/self/mountinfo.
 * Sources: mount(2), mount_setattr(2), open_tree(2), pivot_root(2), tmpfs(5), proc(5).
 */
import { LazaretError } from '../../core/errors/errors.ts'
import { planEtcFiles, planSystemLinks } from '../view/etc-files.ts'
import { countLocks } from '../machine/locks.ts'
import { planMasks } from '../view/proc-masks.ts'
import { shareRow } from './plan-records.ts'
import type { PlanRecord } from './plan-records.ts'
import type { Place } from './place.ts'
import { guestId } from './shape.ts'
import type { CellIdentity, CellShape, HostView } from './shape.ts'
import { listSources, planSources, readablePaths } from '../view/sources.ts'
import type { SourceGround, SourcePlan } from '../view/sources.ts'
import { Remembered } from '../machine/remembered.ts'
import { planSandboxDisk, sandboxFolders } from './sandbox-disk.ts'
import { diskRoom, sharedMemoryRoom, tmpfsSize } from '../limits/disk.ts'
import { limitTcp, planWatches } from '../limits/settings.ts'

const readOnly = 1
const noSuid = 2
const noDevices = 4
const noExecute = 8
const inert = noSuid | noDevices | noExecute

/** Where the new root is built. Everything below it that is needed has been opened before. */
const constructionSite = '/tmp'
/** The guests' root: the only folder in the root. */
export const guestRoot = '/cell'

/** Opens the folder of the host that is the workspace. */
export function planWorkspaceSource(path: string, slot: number, identity: CellIdentity): PlanRecord {
  const id = identity.kind === 'own' ? identity.firstId + 1 : 0
  return { do: 'open-workspace', slot, path, uid: id, gid: id }
}

/** There are thousands of cells but few shapes, so plans are reused. */
const shapesMax = 32
const madeBefore = new WeakMap<HostView, Map<string, MountPlan>>()

/** Everything that is shown, opened and mounted, which is the same for all cells of a shape. */
export interface MountPlan extends Pick<SourcePlan, 'holds' | 'nextSlot'> {
  /** What guests may read in addition to the folders that every guest may. */
  readonly readable: readonly string[]
  /** From creating the new root to making it read-only. */
  readonly mounts: readonly PlanRecord[]
}

/** A workspace of the host has the slot after those of the sources. */
export function planMounts(shape: CellShape, ground: SourceGround): MountPlan {
  const known = madeBefore.get(ground.view) ?? new Map<string, MountPlan>()
  madeBefore.set(ground.view, known)
  const key = JSON.stringify([shape, ground.firstSlot, ground.kind])
  const plan = known.get(key) ?? makePlan(shape, ground)
  if (known.size >= shapesMax) known.clear()
  known.set(key, plan)
  return plan
}

function makePlan(shape: CellShape, ground: SourceGround): MountPlan {
  const { holds, shows, nextSlot } = planSources(shape, ground)
  const mounts = makeMounts(shape, ground, { shows, nextSlot })
  const readable = readablePaths(shape, ground.view)
  return { holds: shareRow(holds), nextSlot, mounts: shareRow(mounts), readable }
}

function makeMounts(
  shape: CellShape,
  ground: SourceGround,
  planned: Pick<SourcePlan, 'shows' | 'nextSlot'>,
): PlanRecord[] {
  const { view, facts } = ground
  const site = new ConstructionSite()
  const sources = listSources(shape, view)
  requireApart(sources.map(({ guest }) => guest))
  const resolvConf = shape.network === 'host' ? view.resolvConf : ''
  return [
    {
      do: 'root',
      at: constructionSite,
      options: 'size=4m,nr_inodes=1k,mode=0755',
      inside: guestRoot.slice(1),
    },
    ...view.links.map(({ path, target }): PlanRecord => ({ do: 'symlink', target, path: path.slice(1) })),
    ...Object.entries(planEtcFiles(resolvConf, shape)).flatMap(([path, text]) => site.file(path, text)),
    ...Object.entries(shape.files ?? {}).flatMap(([path, text]) => site.file(path, text)),
    ...planTexts(shape, view).flatMap(([path, text]) => site.file(path, text)),
    ...Object.entries(planSystemLinks(shape)).flatMap(([path, to]) => site.link(path, to)),
    ...sources.flatMap(({ host, guest }) => (facts.isFile(host) ? site.file(guest, '') : site.folder(guest))),
    ...site.folder('/proc'),
    ...planned.shows,
    ...planDevices(site, shape),
    { ...processes, path: 'proc' },
    ...planWritable(shape, site, () => planSandboxDisk(shape, view, planned.nextSlot)),
    { do: 'pivot' },
    { do: 'set-attributes', path: '/', attributes: readOnly | noSuid | noDevices },
    { do: 'root-guard', path: guestRoot },
    ...planWatches(shape, ground),
    ...(shape.network === 'none' ? limitTcp : []),
    // Each space covers /proc with its own, and masks that.
    ...(hasOnlySpaces(shape) ? [countLocks] : planMasks()),
  ]
}

/** No guest has this view: each is in a space. */
function hasOnlySpaces({ isSandbox, isTemplate }: CellShape): boolean {
  return isSandbox === true || isTemplate === true
}

function planWritable(
  shape: CellShape,
  site: ConstructionSite,
  sandboxDisk: () => PlanRecord[],
): PlanRecord[] {
  if (shape.isSandbox === true)
    return [...sandboxFolders.flatMap((path) => site.folder(path)), ...sandboxDisk()]
  return writableMounts(shape.place, shape.diskBytes).flatMap((mount) => [
    ...site.folder(mount.path),
    ...(hasOnlySpaces(shape) ? [] : [planTmpfs(mount)]),
  ])
}

function planTexts({ isSandbox }: CellShape, { texts }: HostView): [string, string][] {
  return isSandbox === true ? Object.entries(texts) : []
}

/** A mount point inside another bind would be created in a folder of the host. */
function requireApart(points: readonly string[]): void {
  const all = new Set(points)
  for (const point of points) {
    for (let end = point.lastIndexOf('/'); end > 0; end = point.lastIndexOf('/', end - 1)) {
      const outer = point.slice(0, end)
      if (!all.has(outer)) continue
      throw new LazaretError('INVALID_REQUEST', {
        detail: `${point} cannot be shown to guests: it lies inside ${outer}, which is shown as a whole.`,
        hint: 'Show only the outer folder, or both under other names (`readable`).',
      })
    }
  }
}

const spaceMounts = new Remembered<readonly PlanRecord[]>()

const terminals = {
  do: 'mount',
  type: 'devpts',
  flags: noSuid | noExecute,
  options: 'newinstance,ptmxmode=0666,mode=0620,max=64',
} as const

const processes = { do: 'mount', type: 'proc', flags: inert, options: '' } as const

/**
 * A space's own mounts, over the private mounts of its cell. The mount points already exist on that cell's tmpfs.
 * Everything else in the view is read-only.
 */
export function planSpaceMounts(shape: CellShape, owner: number): readonly PlanRecord[] {
  const { place, diskBytes, network } = shape
  return spaceMounts.get([place, diskBytes, network, owner], () => {
    const writable = sizedMounts(place, diskBytes, owner).map((mount): PlanRecord => ({
      do: 'mount',
      type: 'tmpfs',
      ...mount,
    }))
    return shareRow(planOwnMounts(writable, { hasNetwork: network === 'none' }))
  })
}

/** What a space mounts over the view of its cell. If it has its own network, also the settings of that. */
export function planOwnMounts(
  writable: readonly PlanRecord[],
  { hasNetwork }: { readonly hasNetwork: boolean },
): PlanRecord[] {
  return [
    { ...terminals, path: '/dev/pts' },
    { ...processes, path: '/proc' },
    ...writable,
    ...(hasNetwork ? limitTcp : []),
    ...planMasks(),
  ]
}

/**
 * Each space of a sandbox has its own terminals and shared memory, and no process runs in the view that contains them.
 */
function planDevices(site: ConstructionSite, shape: CellShape): PlanRecord[] {
  const links = {
    ptmx: 'pts/ptmx',
    fd: '/proc/self/fd',
    stdin: '/proc/self/fd/0',
    stdout: '/proc/self/fd/1',
    stderr: '/proc/self/fd/2',
  }
  return [
    ...site.folder('/dev/pts'),
    ...(hasOnlySpaces(shape) ? [] : [{ ...terminals, path: 'dev/pts' }]),
    ...Object.entries(links).map(([name, target]): PlanRecord => ({
      do: 'symlink',
      target,
      path: `dev/${name}`,
    })),
    ...site.folder('/dev/shm'),
    ...(hasOnlySpaces(shape) ? [] : [planTmpfs(sharedMemoryMount(shape.diskBytes))]),
  ]
}

/** A tmpfs that guests write to. */
export interface WritableMount {
  readonly path: string
  readonly flags: number
  readonly options: string
}

/** Every mount whose size follows from the disk limit. */
export function sizedMounts(place: Place, diskBytes: number, owner = guestId): WritableMount[] {
  return [sharedMemoryMount(diskBytes), ...writableMounts(place, diskBytes, owner)]
}

export function sharedMemoryMount(diskBytes: number): WritableMount {
  const size = tmpfsSize(sharedMemoryRoom(diskBytes))
  return { path: '/dev/shm', flags: inert, options: `mode=1777,${size}` }
}

function writableMounts(place: Place, diskBytes: number, owner = guestId): WritableMount[] {
  const size = tmpfsSize(diskRoom(diskBytes))
  const flags = noSuid | noDevices
  return [
    { path: place.temporary, flags, options: `mode=1777,${size}` },
    { path: place.workspace, flags, options: `mode=0755,uid=${owner},gid=${owner},${size}` },
  ]
}

function planTmpfs({ path, flags, options }: WritableMount): PlanRecord {
  return { do: 'mount', type: 'tmpfs', path: path.slice(1), flags, options }
}

/** Remembers which folders of the new root exist, so that parents are created only once. */
class ConstructionSite {
  readonly #made = new Set<string>(['/'])

  folder(path: string): PlanRecord[] {
    if (this.#made.has(path)) return []
    this.#made.add(path)
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    return [...this.folder(parent), { do: 'directory', path: path.slice(1), mode: 0o755 }]
  }

  link(path: string, target: string): PlanRecord[] {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    return [...this.folder(parent), { do: 'symlink', target, path: path.slice(1) }]
  }

  file(path: string, text: string): PlanRecord[] {
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    return [
      ...this.folder(parent),
      { do: 'file', path: path.slice(1), mode: 0o444, content: Buffer.from(text) },
    ]
  }
}
