/**
 * Cgroup v2: one tree. A group with its own processes cannot give controllers to its children, so this needs a parent that
 * already does, or a group whose only process may step aside into a leaf.
 * Source: Documentation/admin-guide/cgroup-v2.rst ("No Internal Process Constraint", "Delegation").
 */
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

import type { CgroupFigures } from '../limits/limit-rows.ts'
import type { CellCgroup, CgroupController, CgroupParent, CgroupRoad } from './cgroup.ts'
import { kernelGroups, readKeyed, readNumber, writeValue, writeWherePresent } from './files.ts'
import type { GroupFolders } from './files.ts'
import { Leftovers, writeSlowly } from './leftovers.ts'

const wanted: readonly CgroupController[] = ['memory', 'pids', 'cpu']

/** The leaf into which the process of a divided group steps aside. */
export const hostLeaf = 'lazaret-host'

export interface Division {
  readonly road: CgroupRoad
  /** The group that is divided. */
  readonly own: string
  /** The parent of our cells, made inside it. */
  readonly name: string
  /** The process that may be in the group, and steps aside. */
  readonly occupant: number
  readonly groups?: GroupFolders
}

export function openVersion2({ road, groups = kernelGroups, ...division }: Division): CgroupParent {
  const parent = divide(division, groups)
  const leftovers = new Leftovers(() => reclaim(parent))
  return {
    version: 2,
    road,
    controllers: wanted,
    folders: [parent],
    create: (cellName, figures) => {
      const cell = createCell(`${parent}/${cellName}`, figures, groups)
      return { ...cell, remove: () => leftovers.remove(cell) }
    },
    remove: () => groups.remove(parent),
  }
}

/** Returns the parent of our cells. */
export function divide(
  { own, name, occupant }: Pick<Division, 'own' | 'name' | 'occupant'>,
  groups: GroupFolders = kernelGroups,
): string {
  enableControllers(own, occupant)
  const parent = `${own}/${name}`
  groups.make(parent)
  try {
    enableControllers(parent, occupant)
  } catch (error) {
    groups.remove(parent)
    throw error
  }
  return parent
}

function enableControllers(folder: string, occupant: number): void {
  const control = `${folder}/cgroup.subtree_control`
  const missing = wanted.filter(
    (controller) => !readFileSync(control, 'utf8').split(/\s+/).includes(controller),
  )
  if (missing.length === 0) return
  const request = missing.map((controller) => `+${controller}`).join(' ')
  try {
    writeValue(control, request)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
    stepAside(folder, occupant)
    writeValue(control, request)
  }
}

/** Moves the process into a leaf, if it is the only one in the group. */
function stepAside(folder: string, occupant: number): void {
  const members = readFileSync(`${folder}/cgroup.procs`, 'utf8').trim().split('\n')
  if (members.length !== 1 || members[0] !== String(occupant)) {
    throw new Error('the cgroup of this process holds others, so it cannot be divided')
  }
  const leaf = `${folder}/${hostLeaf}`
  if (!existsSync(leaf)) mkdirSync(leaf)
  writeValue(`${leaf}/cgroup.procs`, occupant)
}

/** A new group has a weight of 100. */
const yieldingWeight = 10

function createCell(folder: string, figures: CgroupFigures, groups: GroupFolders): CellCgroup {
  groups.make(folder)
  let held: Partial<CgroupFigures> = {}
  // Most runs have the figures that their parked worker has.
  const limit = ({ memoryBytes, tasksMax }: CgroupFigures): void => {
    if (memoryBytes !== held.memoryBytes) writeValue(`${folder}/memory.max`, memoryBytes)
    if (tasksMax !== held.tasksMax) writeValue(`${folder}/pids.max`, tasksMax)
    held = { memoryBytes, tasksMax }
  }
  try {
    limit(figures)
    writeWherePresent(`${folder}/memory.swap.max`, 0)
  } catch (error) {
    groups.remove(folder)
    throw error
  }
  return {
    joins: [`${folder}/cgroup.procs`],
    // In version 2 the kernel also requires write access to the common ancestor of the old and the new group.
    admit: (uid) => [folder, dirname(folder)].forEach((path) => chownSync(`${path}/cgroup.procs`, uid, uid)),
    limit,
    yieldProcessors: () => writeWherePresent(`${folder}/cpu.weight`, yieldingWeight),
    oomKills: () => readKeyed(`${folder}/memory.events`, 'oom_kill'),
    memoryPeakBytes: () => (existsSync(`${folder}/memory.peak`) ? readNumber(`${folder}/memory.peak`) : 0),
    cpuMs: () => readKeyed(`${folder}/cpu.stat`, 'usage_usec') / 1000,
    forksRefused: () => readKeyed(`${folder}/pids.events`, 'max'),
    remove: () => groups.remove(folder),
  }
}

/** The kernel reports an error if it cannot reclaim that much. Needs Linux 5.19. */
async function reclaim(folder: string): Promise<void> {
  await writeSlowly(`${folder}/memory.reclaim`, readNumber(`${folder}/memory.current`))
}
