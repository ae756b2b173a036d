/** Ends what a pass has started and left behind: servers, browsers and hosts outlive a test process that is killed. */
import { readdirSync, readFileSync } from 'node:fs'

/** A server that dies with its parent may start another process meanwhile. */
const roundsMax = 10

/** Kills every process whose environment at its start has the entry, except this one. Returns how many there were. */
export function endProcessesWith(variable: string, value: string): number {
  const ended = new Set<number>()
  for (let round = 0; round < roundsMax; round++) {
    const living = readdirSync('/proc').flatMap((name) => {
      const pid = Number(name)
      return Number.isInteger(pid) && pid !== process.pid && hasEntry(pid, `${variable}=${value}`)
        ? [pid]
        : []
    })
    if (living.length === 0) break
    for (const pid of living) if (kill(pid)) ended.add(pid)
  }
  return ended.size
}

/** A zombie's environment is empty; another user's cannot be read. */
function hasEntry(pid: number, entry: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(entry)
  } catch {
    return false
  }
}

/** Returns whether the process still existed. */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
