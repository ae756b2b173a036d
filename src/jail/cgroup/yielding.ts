/**
 * Cgroup v1: one group for the processes of all cells that give way to younger ones. It has the weight of one cell, however
 * many are in it: a program that spins takes little from those that have just begun.
 * Source: Documentation/scheduler/sched-design-CFS.rst (cpu.shares), cgroup-v1/cgroups.rst (attaching processes).
 */
import { mkdirSync, readFileSync } from 'node:fs'

import { writeValue } from './files.ts'

/** The shares of a new group. */
const shares = 1024
/** Processes that were started while others were moved are found in the next round. */
const roundsMax = 8

export class YieldingGroup {
  readonly folder: string

  constructor(folder: string) {
    this.folder = folder
    mkdirSync(folder)
    writeValue(`${folder}/cpu.shares`, shares)
  }

  /** `members` is the file that lists a cell's processes in another hierarchy. What they start stays in the group. */
  take(members: string): void {
    const taken = new Set<string>()
    for (let round = 0; round < roundsMax; round++) {
      const fresh = readFileSync(members, 'utf8')
        .split('\n')
        .filter((pid) => pid !== '' && !taken.has(pid))
      if (fresh.length === 0) return
      for (const pid of fresh) {
        taken.add(pid)
        this.#take(pid)
      }
    }
  }

  #take(pid: string): void {
    try {
      writeValue(`${this.folder}/cgroup.procs`, pid)
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
