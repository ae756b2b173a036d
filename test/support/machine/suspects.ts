/** The processes that a leak check has to examine, found without reading every other process each time. */
import { readdirSync } from 'node:fs'

import { descendantsAmong, findProcess } from './processes.ts'
import type { HostProcess } from './processes.ts'

export interface Suspects {
  readonly descendants: readonly HostProcess[]
  /** In a pid namespace below this one, whoever started them. */
  readonly nested: readonly HostProcess[]
}

/**
 * Pids of processes that are neither, and cannot become either: this process adopts none of them, and no process can
 * move into another pid namespace. A pid leaves the set when its process has ended, so the next process with that pid
 * is examined.
 */
const strangers = new Set<number>()

export function listSuspects(): Suspects {
  const present = new Set(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number),
  )
  for (const pid of strangers) if (!present.has(pid)) strangers.delete(pid)
  const others = [...present].filter((pid) => !strangers.has(pid)).flatMap((pid) => findProcess(pid) ?? [])
  const descendants = descendantsAmong(others, process.pid)
  const nested = others.filter(({ pids }) => pids.length > 1)
  const suspects = new Set([...descendants, ...nested].map(({ pid }) => pid))
  const seen = new Set([0, ...strangers, ...others.map(({ pid }) => pid)])
  // A process that has lost its parent during this scan may prove to be a descendant in the next one.
  for (const { pid, parent } of others) if (!suspects.has(pid) && seen.has(parent)) strangers.add(pid)
  return { descendants, nested }
}
