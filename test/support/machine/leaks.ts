/**
 * After a run nothing of it may be left on the machine: no process, descriptor, cgroup, mount or file. Cells are
 * taken down in the background, so a check polls for a while before it names what is still there.
 */
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { eventually } from '../eventually.ts'
import {
  isAlive,
  isDead,
  listDescendants,
  nowTicks,
  readCgroups,
  readPidNamespace,
  readWorkingFolder,
} from './processes.ts'
import type { HostProcess } from './processes.ts'
import { listSuspects } from './suspects.ts'

/** Where files lie on a disk, many of them take their time to remove. */
const cleanUpMs = 20_000
const cgroupDepthMax = 6

/** Where folders for checks are made: not in that of another check, which would take it for something left behind. */
const outerFolder = tmpdir()

export class LeakCheck {
  /** TMPDIR while the tests of this file run, so that what appears there is ours. */
  readonly temporaryFolder: string
  /** What stands because other files of tests in this process go on using it. */
  readonly #ofOthers = { nurseries: listNurseries(), cgroups: listCgroups() }
  readonly #pidNamespaces = new Map<string, number>()
  readonly #processes: HostProcess[] = []
  readonly #own = new Set<number>()
  /** For each kind of thing that can be left; those that cost least come first. */
  readonly #looks: readonly (() => string[])[] = [
    () => this.#leftDescriptors(),
    () => listFiles(this.temporaryFolder),
    () => listCgroups().filter((path) => /\/cell-\d+$/.test(path)),
    () => this.#leftProcesses(),
    () => listMounts().filter((mount) => !this.#mounts.includes(mount)),
  ]
  /** What waits for runs to come is left of none. */
  before: (() => Promise<void>) | undefined
  #hasNursery = false
  #descriptors = 0
  #mounts: readonly string[] = []

  constructor() {
    this.temporaryFolder = mkdtempSync(join(outerFolder, 'lazaret-test-'))
    // Guests without a view of files of their own find their folder in it.
    chmodSync(this.temporaryFolder, 0o711)
    this.enterFolder()
    // Also when the file fails before its first test.
    process.once('exit', () => rmSync(this.temporaryFolder, { recursive: true, force: true }))
  }

  enterFolder(): void {
    process.env['TMPDIR'] = this.temporaryFolder
  }

  leaveFolder(): void {
    process.env['TMPDIR'] = outerFolder
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
    if (name !== undefined && name !== readPidNamespace(process.pid))
      this.#pidNamespaces.set(name, nowTicks())
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

  /** A Lazaret that lives on keeps its nursery: once it stands it belongs to the baseline. */
  async allowNursery(): Promise<void> {
    this.#hasNursery = true
    const isThere = () => listNurseries().some((pid) => !this.#ofOthers.nurseries.includes(pid))
    await eventually(() => (isThere() ? undefined : 'there is no nursery'), cleanUpMs)
  }

  /** Waits until nothing is left; throws with what is left after all, of the first kind that there is. */
  async check(): Promise<void> {
    await this.before?.()
    await eventually(() => {
      for (const look of this.#looks) {
        const left = look()
        // To look for the other kinds, too, would be most of what a check costs.
        if (left.length > 0) return describe(left)
      }
      return undefined
    }, cleanUpMs)
    this.forgetProcesses()
  }

  /** What is left at this moment, or undefined. */
  describeLeft(): string | undefined {
    return describe(this.#looks.flatMap((look) => look()))
  }

  /** After the Lazaret was disposed: its parent cgroup too. */
  async checkDisposed(): Promise<void> {
    this.#hasNursery = false
    await this.check()
    const ours = () => listCgroups().filter((path) => !this.#ofOthers.cgroups.includes(path))
    await eventually(() => describe(ours()), cleanUpMs)
  }

  #leftProcesses(): string[] {
    const { descendants, nested } = listSuspects()
    const children = descendants.filter((one) => !this.#own.has(one.pid) && !this.#isAllowedNursery(one))
    const strays = nested.filter((one) => !isDead(one) && this.#isOurs(one))
    const noted = this.#processes.filter(isAlive)
    const left = new Map([...children, ...strays, ...noted].map((one) => [one.pid, one]))
    return [...left.values()].map(
      ({ pid, name, state, parent }) => `process ${pid} (${name}, ${state}, child of ${parent})`,
    )
  }

  #isAllowedNursery(one: HostProcess): boolean {
    return isNursery(one) && (this.#hasNursery || this.#ofOthers.nurseries.includes(one.pid))
  }

  /** By its cgroup where there is one; else by a namespace that only a cell of ours can have had at that time. */
  #isOurs({ pid, startTicks }: HostProcess): boolean {
    if (cgroupPattern.test(readCgroups(pid))) return true
    if (readWorkingFolder(pid).startsWith(`${this.temporaryFolder}/lazaret-`)) return true
    const notedAt = this.#pidNamespaces.get(readPidNamespace(pid) ?? '')
    return notedAt !== undefined && startTicks < notedAt
  }

  #leftDescriptors(): string[] {
    const extra = countDescriptors() - this.#descriptors
    return extra > 0 ? [`${extra} more descriptors than before`] : []
  }
}

function listNurseries(): number[] {
  return listDescendants(process.pid)
    .filter(isNursery)
    .map(({ pid }) => pid)
}

/** Its launchers are named otherwise, so one that stays behind is still seen. */
function isNursery({ name, parent }: HostProcess): boolean {
  return name === 'nursery' && parent === process.pid
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

/**
 * What a run without a view of its own has left in its host's folder counts; that folder itself stays. So do empty ones
 * in it once their host is dead: launchers with ids of their own may not remove them from among root's.
 */
function listFiles(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    const [, pid] = /^lazaret-\d+-(\d+)-\d+-\d+$/.exec(name) ?? []
    if (pid === undefined) return [path]
    const runs = listFolders(path)
    return Number(pid) === process.pid ? runs : runs.filter((run) => !isEmpty(run))
  })
}

/** A folder that we may not look into is one that somebody still uses. */
function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0
  } catch {
    return false
  }
}

function listFolders(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}/${name}`)
  } catch {
    return [] // removed meanwhile
  }
}
