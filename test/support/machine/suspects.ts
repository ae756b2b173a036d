/** The processes that a leak check has to look at, found without reading about every other process each time. */
import { readdirSync } from 'node:fs'

import { descendantsAmong, findProcess } from './processes.ts'
import type { HostProcess } from './processes.ts'

export interface Suspects {
  readonly descendants: readonly HostProcess[]
  /** In a pid namespace below this one, whosever they are. */
  readonly nested: readonly HostProcess[]
}

/**
 * Processes that are neither. They cannot become either: nobody adopts a stranger, and nobody enters a pid namespace
 * alive. A number leaves the set with its process, so the next process with that number is looked at.
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
  // Who has lost its parent while this function was reading may turn out to be a descendant at the next look.
  for (const { pid, parent } of others) if (!suspects.has(pid) && seen.has(parent)) strangers.add(pid)
  return { descendants, nested }
}
