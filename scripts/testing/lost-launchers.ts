/** Finds launchers of this checkout whose host is dead. They should have ended with it, with their cells. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const launchers = join(import.meta.dirname, '../../native/bin/')

/** The end of a host reaches its launchers within milliseconds, and a cell's end takes some more. */
const patienceMs = 2000
const lookEveryMs = 50

export async function lostLaunchers(): Promise<string[]> {
  let lost = look()
  for (let waitedMs = 0; waitedMs < patienceMs && lost.length > 0; waitedMs += lookEveryMs) {
    await delay(lookEveryMs)
    // Another pass may be killing hosts meanwhile: only what was there from the beginning counts.
    const still = look()
    lost = lost.filter((one) => still.includes(one))
  }
  return lost
}

/** A process without its parent becomes a child of pid 1. */
function look(): string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => parentOf(pid) === '1').map((pid) => `launcher with pid ${pid}`)
}

function parentOf(pid: string): string | undefined {
  try {
    if (!readlinkSync(`/proc/${pid}/exe`).startsWith(launchers)) return undefined
    return /^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  } catch {
    // It has ended, or belongs to someone else.
    return undefined
  }
}
