/**
 * Sources: which parts of the host a cell shows, and through which inodes. Where the kernel allows it, a folder is
 * shown through an overlay of the cell's own (`lower`), which keeps locks, watches, times, leases, sockets and pipes of
 * the host's inodes out of reach. Elsewhere the host's own inodes are shown, read-only, and the receipt has no layer
 * `own-view`.
 * Does not stop: effects on the cached pages of a file, which stay the host's. Device nodes are the host's own.
 */
import type { PlanRecord } from '../plan/plan-records.ts'
import type { Bind, CellIdentity, CellShape, HostView } from '../plan/shape.ts'

const readOnly = 1
const noSuid = 2
const noDevices = 4
const noExecute = 8

/** `tty` is whatever terminal the opener's own session has: for a guest none, or a pty that it made itself. */
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty']

/**
 * Where a view is mounted until `pivot` leaves it behind: in the old root, where it covers nothing that is still
 * needed.
 */
export const viewSite = '/proc'
/** On the cell's own tmpfs, and still empty when views are made. */
const emptyFolder = 'proc'

/** A folder that an overlay may have as its one layer, and where in it a source is found. */
export interface Lower {
  readonly folder: string
  readonly inside: string
}

/** What planning has to know about the sources of binds. */
export interface SourceFacts {
  readonly isFile: (path: string) => boolean
  /** The same path without links, because the launcher follows none. */
  readonly realPath: (path: string) => string
  /** For a path without links. Best first; none if a view would hide something that is mounted inside. */
  readonly lowersOf: (path: string, kind: CellIdentity['kind']) => readonly Lower[]
}

export interface SourceGround {
  readonly view: HostView
  readonly kind: CellIdentity['kind']
  readonly firstSlot: number
  readonly facts: SourceFacts
  readonly memoryHeldByCgroup: boolean
}

export interface SourcePlan {
  /** Opens everything before our own mounts cover it. */
  readonly holds: readonly PlanRecord[]
  /** Shows it, after the mount points and `proc` were created. */
  readonly shows: readonly PlanRecord[]
  /** The first slot that is free again. */
  readonly nextSlot: number
}

/** Everything that is bound. */
export function listSources(shape: CellShape, view: HostView): Bind[] {
  const database = shape.isSandbox === true ? view.database : []
  const same = [...view.folders, ...view.etc, ...database, ...devices.map((name) => `/dev/${name}`)]
  // A folder that was named explicitly takes precedence over what every guest sees there.
  const named = new Set(shape.binds.map(({ guest }) => guest))
  const usual = same.filter((path) => !named.has(path)).map((path) => ({ host: path, guest: path }))
  return [...usual, ...shape.binds]
}

/** What guests may read in addition to the folders that every guest may. */
export function readablePaths(shape: CellShape, view: HostView): string[] {
  const always = ['/dev/', '/etc/', '/opt/lazaret/']
  const shown = listSources(shape, view).map(({ guest }) => guest)
  return shown.filter((path) => !always.some((folder) => path.startsWith(folder)))
}

export function planSources(shape: CellShape, ground: SourceGround): SourcePlan {
  const views = new Map<string, { readonly bind: Bind; readonly inside: string }[]>()
  const shared: Bind[] = []
  for (const bind of listSources(shape, ground.view)) {
    const lower = chooseLower(bind, ground, [...views.keys()])
    if (lower === undefined) shared.push(bind)
    else views.set(lower.folder, [...(views.get(lower.folder) ?? []), { bind, inside: lower.inside }])
  }
  const firstShared = ground.firstSlot + views.size
  return {
    holds: [
      ...[...views.keys()].map((path, index): PlanRecord => ({
        do: 'open-lower',
        slot: ground.firstSlot + index,
        path,
      })),
      ...shared.map((bind, index): PlanRecord => ({
        do: 'open-tree',
        slot: firstShared + index,
        path: realPathOf(bind, ground.facts),
        attributes: attributesOf(bind.guest),
      })),
    ],
    shows: [
      ...[...views.values()].flatMap((parts, index): PlanRecord[] => [
        {
          do: 'own-view',
          slot: ground.firstSlot + index,
          path: viewSite,
          empty: emptyFolder,
          attributes: readOnly | noSuid | noDevices,
        },
        ...parts.map(({ bind, inside }): PlanRecord => ({
          do: 'bind-own',
          at: viewSite,
          source: inside,
          path: bind.guest.slice(1),
        })),
      ]),
      ...shared.map(({ guest }, index): PlanRecord => ({
        do: 'bind',
        slot: firstShared + index,
        path: guest.slice(1),
      })),
    ],
    nextSlot: firstShared + shared.length,
  }
}

const isDevice = (guest: string): boolean => guest.startsWith('/dev/')

/** A device can still be written to; the read-only mount only prevents changes to its inode's times and mode. */
function attributesOf(guest: string): number {
  return readOnly | noSuid | (isDevice(guest) ? noExecute : noDevices)
}

/** The name of a part of a view that cannot be found, among the folders of which the kernel refuses views. */
export const partOf = (folder: string, inside: string): string => `${folder}:${inside}`

/** A path that was checked is not looked up again: it may lead elsewhere by now. */
function realPathOf({ host, isReal }: Bind, facts: SourceFacts): string {
  return isReal === true ? host : facts.realPath(host)
}

/** Prefers an overlay that is needed anyway. */
function chooseLower(
  bind: Bind,
  { view, kind, facts }: SourceGround,
  chosen: readonly string[],
): Lower | undefined {
  if (isDevice(bind.guest)) return undefined
  const isRefused = ({ folder, inside }: Lower) =>
    [folder, partOf(folder, inside)].some((one) => view.refusedLowers.includes(one))
  const possible = facts.lowersOf(realPathOf(bind, facts), kind).filter((lower) => !isRefused(lower))
  return possible.find(({ folder }) => chosen.includes(folder)) ?? possible[0]
}
