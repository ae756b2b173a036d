/** Cgroup v1: one hierarchy a controller. Memory deaths show in `oom_kill` of memory.oom_control; failcnt stays 0. */
import { chownSync, mkdirSync } from 'node:fs'

import type { CgroupFigures } from '../limits/limit-rows.ts'
import type { CellCgroup, CgroupController, CgroupParent } from './cgroup.ts'
import { Counter, readKeyed, removeGroups, writeValue, writeWherePresent } from './files.ts'
import { Leftovers, writeSlowly } from './leftovers.ts'

/** The folder of our parent group in each hierarchy. `cpu` is the accounting controller, cpuacct. */
export type Hierarchies = Readonly<Record<CgroupController, string>>

export function openVersion1(hierarchies: Hierarchies): CgroupParent {
  const folders = [...new Set(Object.values(hierarchies))]
  for (const folder of folders) mkdirSync(folder)
  const leftovers = new Leftovers(() => writeSlowly(`${hierarchies.memory}/memory.force_empty`, 0))
  return {
    version: 1,
    controllers: ['memory', 'pids', 'cpu'],
    folders,
    create: (name, figures) => {
      const cell = createCell(hierarchies, name, figures)
      return { ...cell, remove: () => leftovers.remove(cell) }
    },
    remove: () => removeGroups(folders),
  }
}

function createCell(hierarchies: Hierarchies, name: string, figures: CgroupFigures): CellCgroup {
  const memory = `${hierarchies.memory}/${name}`
  const pids = `${hierarchies.pids}/${name}`
  const cpu = `${hierarchies.cpu}/${name}`
  const folders = [...new Set([memory, pids, cpu])]
  let heldBytes = Number.POSITIVE_INFINITY
  const limit = ({ memoryBytes, tasksMax }: CgroupFigures): void => {
    const memoryAlone = () => writeValue(`${memory}/memory.limit_in_bytes`, memoryBytes)
    // Memory plus swap, at the same value: no swap. It may never be below the first.
    const withSwap = () => writeWherePresent(`${memory}/memory.memsw.limit_in_bytes`, memoryBytes)
    const inOrder = memoryBytes > heldBytes ? [withSwap, memoryAlone] : [memoryAlone, withSwap]
    for (const write of inOrder) write()
    heldBytes = memoryBytes
    writeValue(`${pids}/pids.max`, tasksMax)
  }
  const counters: Counter[] = []
  const remove = (): void => {
    for (const counter of counters) counter.close()
    removeGroups(folders)
  }
  try {
    for (const folder of folders) mkdirSync(folder)
    limit(figures)
    writeWherePresent(`${memory}/memory.swappiness`, 0)
    counters.push(new Counter(`${memory}/memory.max_usage_in_bytes`))
    counters.push(new Counter(`${cpu}/cpuacct.usage`))
  } catch (error) {
    remove()
    throw error
  }
  const [memoryPeak, cpuUsage] = counters as [Counter, Counter]
  const joins = folders.map((folder) => `${folder}/tasks`)
  return {
    joins,
    admit: (uid) => joins.forEach((path) => chownSync(path, uid, uid)),
    limit,
    oomKills: () => readKeyed(`${memory}/memory.oom_control`, 'oom_kill'),
    memoryPeakBytes: () => memoryPeak.read(),
    cpuMs: () => cpuUsage.read() / 1e6,
    forksRefused: () => readKeyed(`${pids}/pids.events`, 'max'),
    remove,
  }
}
