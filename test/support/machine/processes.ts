/** The host's /proc: the only source that tests trust about which processes run and which process started them. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

export interface HostProcess {
  readonly pid: number
  readonly parent: number
  readonly name: string
  /** As in ps: R, S, Z, … */
  readonly state: string
  /** Clock ticks since boot; together with the pid they identify a process for ever. */
  readonly startTicks: number
  /** Its pid in each pid namespace that it is in, the host's first. */
  readonly pids: readonly number[]
}

export function listProcesses(): HostProcess[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => findProcess(Number(name)) ?? [])
}

/** Undefined if there is no such process, or no longer. */
export function findProcess(pid: number): HostProcess | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const pids = /^NSpid:\s*(.*)$/m.exec(status)?.[1]?.split(/\s+/).map(Number) ?? [pid]
    return {
      pid,
      parent: Number(fields[1]),
      name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
      state: fields[0] ?? '?',
      startTicks: Number(fields[19]),
      pids,
    }
  } catch {
    return undefined
  }
}

/** A zombie is not alive: the new parent of an orphan may reap it late. */
export function isAlive({ pid, startTicks }: HostProcess): boolean {
  const now = findProcess(pid)
  return now?.startTicks === startTicks && !isDead(now)
}

export function isDead({ state }: HostProcess): boolean {
  return state === 'Z' || state === 'X'
}

/**
 * Whether the kernel has killed it. A busy machine may take seconds to run its end, and pid 1 of a namespace sleeps until all
 * others there have ended.
 */
export function isDying({ pid }: HostProcess): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const flags = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[6])
    if ((flags & isExiting) !== 0) return true
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*(\w+)$/gm)].map(([, mask]) =>
      BigInt(`0x${mask}`),
    )
    return pending.some((mask) => (mask & killBit) !== 0n)
  } catch {
    return true // it is gone
  }
}

/** PF_EXITING in the flags of proc_pid_stat(5): include/linux/sched.h. */
const isExiting = 0x4
const killBit = 1n << 8n

/** All descendants. The cell's pid 1 adopts orphans of its cell. */
export function listDescendants(ancestor: number): HostProcess[] {
  return descendantsAmong(listProcesses(), ancestor)
}

export function descendantsAmong(all: readonly HostProcess[], ancestor: number): HostProcess[] {
  const found: HostProcess[] = []
  for (let parents = new Set([ancestor]); parents.size > 0;) {
    const children = all.filter(({ parent }) => parents.has(parent))
    found.push(...children)
    parents = new Set(children.map(({ pid }) => pid))
  }
  return found
}

/** Whether a guest of this process is alive. The nursery waits for the next cell, and does not count. */
export function isAnyGuestAlive(): boolean {
  return listDescendants(process.pid).some((one) => !isDead(one) && one.name !== 'nursery')
}

export interface HostCell {
  readonly stub: HostProcess
  /** In cells without a pid namespace, the warden. */
  readonly pid1: HostProcess
  readonly guests: readonly HostProcess[]
}

/** The cells of a host process (default: this one), oldest first. */
export function listCells(host = process.pid): HostCell[] {
  const descendants = listDescendants(host)
  // A host starts its first launchers itself, and the others through a nursery.
  const nurseries = descendants.filter(({ parent, name }) => parent === host && name === 'nursery')
  const parents = new Set([host, ...nurseries.map(({ pid }) => pid)])
  const stubs = descendants.filter(({ pid, parent }) => parents.has(parent) && !parents.has(pid))
  return stubs
    .flatMap((stub) => {
      const pid1 = descendants.find((one) => one.parent === stub.pid && standsInCell(one, stub))
      return pid1 === undefined ? [] : [{ stub, pid1, guests: listDescendants(pid1.pid) }]
    })
    .toSorted((a, b) => a.pid1.startTicks - b.pid1.startTicks)
}

/** Pid 1 of a namespace deeper than its stub's, or a warden, which gets its name when its cell is complete. */
function standsInCell({ name, pids }: HostProcess, stub: HostProcess): boolean {
  if (pids.length > stub.pids.length) return pids.at(-1) === 1
  return name === 'cell'
}

/** `pid:[…]`, or undefined if it may not be read. */
export function readPidNamespace(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}

export function readCgroups(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8')
  } catch {
    return ''
  }
}

/** The current time on the clock of `startTicks`. */
export function nowTicks(): number {
  const ticksPerSecond = 100 // USER_HZ, fixed by the kernel's ABI on the architectures that have cells
  return Math.floor(Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * ticksPerSecond)
}

/** Empty if the process has ended meanwhile, or belongs to another user. */
export function readWorkingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`)
  } catch {
    return ''
  }
}
