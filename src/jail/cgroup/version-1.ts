/**
 * Cgroup v1: one hierarchy for each controller. Out-of-memory kills show in `oom_kill` of memory.oom_control; failcnt
 * stays 0.
 */
import { chownSync } from 'node:fs'

import type { CgroupFigures } from '../limits/limit-rows.ts'
import type { CellCgroup, CgroupController, CgroupParent } from './cgroup.ts'
import { Counter, makeGroup, removeGroups, writeValue, writeWherePresent } from './files.ts'
import { Leftovers, writeSlowly } from './leftovers.ts'
import { YieldingGroup } from './yielding.ts'

/** The folder of our parent group in each hierarchy. `cpu` is the accounting controller, cpuacct. */
export interface Hierarchies extends Readonly<Record<CgroupController, string>> {
  /** The folder in the hierarchy of the `cpu` controller, if that is not cpuacct's. */
  readonly shares?: string
}

export function openVersion1({ shares, ...hierarchies }: Hierarchies): CgroupParent {
  const folders = [...new Set(Object.values(hierarchies))]
  for (const folder of folders) makeGroup(folder)
  // A new group inherits this value from its parent.
  writeWherePresent(`${hierarchies.memory}/memory.swappiness`, 0)
  const yielding = shares === undefined ? undefined : new YieldingGroup(shares)
  const leftovers = new Leftovers(() => writeSlowly(`${hierarchies.memory}/memory.force_empty`, 0))
  return {
    version: 1,
    road: 'own-group',
    controllers: ['memory', 'pids', 'cpu'],
    folders,
    create: (name, figures) => {
      const cell = createCell(hierarchies, name, figures)
      const yieldProcessors = () => {
        if (yielding === undefined) cell.yieldProcessors()
        else yielding.take(`${hierarchies.pids}/${name}/cgroup.procs`)
      }
      return { ...cell, yieldProcessors, remove: () => leftovers.remove(cell) }
    },
    remove: () => removeGroups(yielding === undefined ? folders : [...folders, yielding.folder]),
  }
}

/** A new group has 1024. */
const yieldingShares = 102

function createCell(hierarchies: Hierarchies, name: string, figures: CgroupFigures): CellCgroup {
  const memory = `${hierarchies.memory}/${name}`
  const pids = `${hierarchies.pids}/${name}`
  const cpu = `${hierarchies.cpu}/${name}`
  const folders = [...new Set([memory, pids, cpu])]
  let held: Partial<CgroupFigures> = {}
  const limitMemory = (memoryBytes: number): void => {
    const memoryAlone = () => writeValue(`${memory}/memory.limit_in_bytes`, memoryBytes)
    // Memory plus swap, at the same value: no swap. It may never be below the first.
    const withSwap = () => writeWherePresent(`${memory}/memory.memsw.limit_in_bytes`, memoryBytes)
    const isRaised = held.memoryBytes !== undefined && memoryBytes > held.memoryBytes
    const inOrder = isRaised ? [withSwap, memoryAlone] : [memoryAlone, withSwap]
    for (const write of inOrder) write()
  }
  // Most runs have the figures that their parked worker has.
  const limit = ({ memoryBytes, tasksMax }: CgroupFigures): void => {
    if (memoryBytes !== held.memoryBytes) limitMemory(memoryBytes)
    held = { ...held, memoryBytes }
    if (tasksMax !== held.tasksMax) writeValue(`${pids}/pids.max`, tasksMax)
    held = { memoryBytes, tasksMax }
  }
  const memoryPeak = new Counter(`${memory}/memory.max_usage_in_bytes`)
  const memoryDeaths = new Counter(`${memory}/memory.oom_control`)
  const cpuUsage = new Counter(`${cpu}/cpuacct.usage`)
  const refusals = new Counter(`${pids}/pids.events`)
  const remove = (): void => {
    for (const counter of [memoryPeak, memoryDeaths, cpuUsage, refusals]) counter.close()
    removeGroups(folders)
  }
  try {
    for (const folder of folders) makeGroup(folder)
    limit(figures)
    memoryPeak.open()
    cpuUsage.open()
  } catch (error) {
    remove()
    throw error
  }
  const joins = folders.map((folder) => `${folder}/tasks`)
  return {
    joins,
    admit: (uid) => joins.forEach((path) => chownSync(path, uid, uid)),
    limit,
    yieldProcessors: () => writeWherePresent(`${cpu}/cpu.shares`, yieldingShares),
    oomKills: () => memoryDeaths.readKeyed('oom_kill'),
    memoryPeakBytes: () => memoryPeak.read(),
    cpuMs: () => cpuUsage.read() / 1e6,
    forksRefused: () => refusals.readKeyed('max'),
    remove,
  }
}
