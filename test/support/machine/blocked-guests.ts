/** Tells when a guest waits for somebody to read what it has written, without a guess at how long it takes until then. */
import { readFileSync, readdirSync } from 'node:fs'

import { eventually } from '../eventually.ts'
import { listCells } from './processes.ts'

/** Turns of this process's loop, in each of which it reads what has arrived. */
const looksMin = 40
const patienceMs = 120_000

/**
 * Resolves when no thread of the Python programs that there are now has run, or could have run, for a while (`blocked`), or
 * as soon as `isOver` (`over`).
 */
export async function untilPythonBlocks(isOver: () => boolean): Promise<'blocked' | 'over'> {
  const guests = listCells().flatMap((cell) => cell.guests)
  const pids = guests.filter(({ name }) => name.startsWith('python')).map(({ pid }) => pid)
  let [asleepFor, before] = [0, '']
  await eventually(() => {
    if (isOver()) return undefined
    const threads = pids.flatMap(readThreads)
    const now = threads.map(({ switches }) => switches).join()
    const areAsleep = threads.length > 0 && threads.every(({ state }) => state === 'S')
    asleepFor = areAsleep && now === before ? asleepFor + 1 : 0
    before = now
    return asleepFor < looksMin ? 'the guest runs' : undefined
  }, patienceMs)
  return isOver() ? 'over' : 'blocked'
}

/** The state of each thread, and how often it has been switched to: a thread that wakes only to write a little uses no tick. */
function readThreads(pid: number): { readonly state: string | undefined; readonly switches: string }[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
      const switches = status.matchAll(/^(?:non)?voluntary_ctxt_switches:\s*(\d+)$/gm)
      return {
        state: /^State:\s*(\w)/m.exec(status)?.[1],
        switches: [thread, ...[...switches].map(([, count]) => count)].join(' '),
      }
    })
  } catch {
    // It has ended.
    return []
  }
}
