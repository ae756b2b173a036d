/**
 * What removed groups leave behind. A cached page belongs to the group that read it first. The kernel keeps a removed
 * group as long as it has a page, so guests that each read a page nobody has read would use up the machine's 65,535
 * groups. But if each group took its pages with it, each run would read the interpreter from disk again. So pages are
 * reclaimed only after many groups have been removed.
 * Source: mem_cgroup_css_free() in mm/memcontrol.c, Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst.
 */
import { writeFile } from 'node:fs/promises'

import type { CellCgroup } from './cgroup.ts'

/** The most removed groups that one host process lets the kernel keep. */
const removedMax = 256

export class Leftovers {
  readonly #reclaim: () => Promise<void>
  #removed = 0

  /** `reclaim` frees as many pages as possible of all groups of this host. */
  constructor(reclaim: () => Promise<void>) {
    this.#reclaim = reclaim
  }

  /** Removes a group. Throws when a process is still inside. */
  remove(group: CellCgroup): void {
    group.remove()
    if (++this.#removed % removedMax !== 0) return
    // There are always pages that cannot be freed, and then the kernel reports a failure.
    void this.#reclaim().catch(() => undefined)
  }
}

/** In one of Node's threads, because reclaiming takes long. */
export function writeSlowly(path: string, value: string | number): Promise<void> {
  return writeFile(path, String(value), { flag: 'r+' })
}
