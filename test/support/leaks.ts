/**
 * After a run nothing of it may be left on the machine: no process, descriptor, cgroup, mount or file. Cells are
 * taken down in the background, so a check polls for a while before it names what is still there.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { eventually } from './eventually.ts'
import {
  isAlive,
  isDead,
  listDescendants,
  listProcesses,
  nowTicks,
  readCgroups,
  readPidNamespace,
} from './processes.ts'
import type { HostProcess } from './processes.ts'

const cleanUpMs = 3000
const cgroupDepthMax = 6

export class LeakCheck {
  /** TMPDIR while the tests of this file run, so that what appears there is ours. */
  readonly temporaryFolder: string
  readonly #pidNamespaces = new Map<string, number>()
  readonly #processes: HostProcess[] = []
  readonly #own = new Set<number>()
  #descriptors = 0
  #mounts: readonly string[] = []

  constructor() {
    this.temporaryFolder = mkdtempSync(join(tmpdir(), 'lazaret-test-'))
    process.env['TMPDIR'] = this.temporaryFolder
    // Also when the file fails before its first test.
    process.once('exit', () => rmSync(this.temporaryFolder, { recursive: true, force: true }))
  }

  /** Call when everything that stays open has been opened; waits until what does not has been closed. */
  async takeBaseline(): Promise<void> {
    this.#mounts = listMounts()
    let before = countDescriptors()
    await eventually(() => {
      const now = countDescriptors()
      const busy = now !== before || this.#leftProcesses().length > 0
      before = now
      return busy ? 'the first run is still being cleaned up' : undefined
    }, cleanUpMs)
    this.#descriptors = before
  }

  /** The pid namespace of a run that is over: whatever is still in it was left behind. */
  noteNamespace(name: string | undefined): void {
    if (name !== undefined) this.#pidNamespaces.set(name, nowTicks())
  }

  /** Processes that must be gone at the next check. */
  noteProcesses(processes: readonly HostProcess[]): void {
    this.#processes.push(...processes)
  }

  forgetProcesses(): void {
    this.#processes.length = 0
  }

  /** A child that the test itself started and ends. */
  allow(pid: number): void {
    this.#own.add(pid)
  }

  /** Waits until nothing is left; throws with what is left after all. */
  async check(): Promise<void> {
    await eventually(() => this.describeLeft(), cleanUpMs)
    this.forgetProcesses()
  }

  /** What is left at this moment, or undefined. */
  describeLeft(): string | undefined {
    const parts = [
      () => this.#leftProcesses(),
      () => listCgroups().filter((path) => /\/cell-\d+$/.test(path)),
      () => this.#leftDescriptors(),
      () => listMounts().filter((mount) => !this.#mounts.includes(mount)),
      () => readdirSync(this.temporaryFolder).map((name) => join(this.temporaryFolder, name)),
    ]
    return describe(parts.flatMap((part) => part()))
  }

  /** After the Lazaret was disposed: its parent cgroup too. */
  async checkDisposed(): Promise<void> {
    await this.check()
    await eventually(() => describe(listCgroups()), cleanUpMs)
  }

  #leftProcesses(): string[] {
    const children = listDescendants(process.pid).filter(({ pid }) => !this.#own.has(pid))
    const strays = listProcesses().filter((one) => one.pids.length > 1 && !isDead(one) && this.#isOurs(one))
    const noted = this.#processes.filter(isAlive)
    const left = new Map([...children, ...strays, ...noted].map((one) => [one.pid, one]))
    return [...left.values()].map(
      ({ pid, name, state, parent }) => `process ${pid} (${name}, ${state}, child of ${parent})`,
    )
  }

  /** By its cgroup where there is one; else by a namespace that only a cell of ours can have had at that time. */
  #isOurs({ pid, startTicks }: HostProcess): boolean {
    if (cgroupPattern.test(readCgroups(pid))) return true
    const notedAt = this.#pidNamespaces.get(readPidNamespace(pid) ?? '')
    return notedAt !== undefined && startTicks < notedAt
  }

  #leftDescriptors(): string[] {
    const extra = countDescriptors() - this.#descriptors
    return extra > 0 ? [`${extra} more descriptors than before`] : []
  }
}

function describe(left: readonly string[]): string | undefined {
  return left.length === 0 ? undefined : `left behind: ${left.slice(0, 20).join(', ')}`
}

function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Everything but what other programs on the machine mount meanwhile: only lines that could be a cell's. */
function listMounts(): string[] {
  const isOfCells = (line: string) => /lazaret| - (tmpfs|devpts|proc) /.test(line)
  return readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(isOfCells)
}

/** The groups of this host process carry its pid in their name: lazaret-<pid namespace>-<pid>-<start>-<n>. */
const cgroupPattern = new RegExp(`/lazaret-\\d+-${process.pid}-\\d+-\\d+(/|$)`, 'm')

/** Every cgroup folder of this process's Lazarets, whatever the hierarchy. */
export function listCgroups(pattern = cgroupPattern): string[] {
  const walk = (folder: string, depth: number): string[] => {
    if (depth > cgroupDepthMax) return []
    const folders = listFolders(folder)
    return folders.flatMap((path) => [...(pattern.test(path) ? [path] : []), ...walk(path, depth + 1)])
  }
  return walk('/sys/fs/cgroup', 1)
}

function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}/${name}`)
  } catch {
    return [] // removed meanwhile
  }
}
