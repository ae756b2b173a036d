/**
 * After a run nothing of it may be left on the machine: no process, descriptor, cgroup, mount or file. Cells are
 * removed in the background, so a check polls for a while before it reports what is left.
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

/** Enough to remove many files from a disk. */
const cleanUpMs = 20_000
const cgroupDepthMax = 6

/**
 * The parent of the checks' folders. It is not another check's folder, because that check would report it as left
 * behind.
 */
const outerFolder = tmpdir()

export class LeakCheck {
  /** TMPDIR while the tests of this file run, so everything in it comes from them. */
  readonly temporaryFolder: string
  /** What other test files of this process still use. */
  readonly #ofOthers = { nurseries: listNurseries(), cgroups: listCgroups() }
  readonly #pidNamespaces = new Map<string, number>()
  readonly #processes: HostProcess[] = []
  readonly #own = new Set<number>()
  /** One function for each kind of leftover, the cheapest first. */
  readonly #looks: readonly (() => string[])[] = [
    () => this.#leftDescriptors(),
    () => listFiles(this.temporaryFolder),
    () => listCgroups().filter((path) => /\/cell-\d+$/.test(path)),
    () => this.#leftProcesses(),
    () => listMounts().filter((mount) => !this.#mounts.includes(mount)),
  ]
  /** Called before each check, to end the workers that wait for later runs. */
  before: (() => Promise<void>) | undefined
  #hasNursery = false
  #descriptors = 0
  #mounts: readonly string[] = []

  constructor() {
    this.temporaryFolder = mkdtempSync(join(outerFolder, 'lazaret-test-'))
    // Guests without a mount namespace have their folders in it.
    chmodSync(this.temporaryFolder, 0o711)
    this.enterFolder()
    // Removed even if the file fails before its first test.
    process.once('exit', () => rmSync(this.temporaryFolder, { recursive: true, force: true }))
  }

  enterFolder(): void {
    process.env['TMPDIR'] = this.temporaryFolder
  }

  leaveFolder(): void {
    process.env['TMPDIR'] = outerFolder
  }

  /** Call when everything that stays open has been opened. Waits until everything else has been closed. */
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

  /** Notes the pid namespace of a finished run: any process that is still in it was left behind. */
  noteNamespace(name: string | undefined): void {
    if (name !== undefined && name !== readPidNamespace(process.pid))
      this.#pidNamespaces.set(name, nowTicks())
  }

  /** Notes processes that must have ended by the next check. */
  noteProcesses(processes: readonly HostProcess[]): void {
    this.#processes.push(...processes)
  }

  forgetProcesses(): void {
    this.#processes.length = 0
  }

  /** Allows a child that the test itself has started and will end. */
  allow(pid: number): void {
    this.#own.add(pid)
  }

  /** A Lazaret keeps its nursery until it is disposed. Waits for the nursery, which then belongs to the baseline. */
  async allowNursery(): Promise<void> {
    this.#hasNursery = true
    const isThere = () => listNurseries().some((pid) => !this.#ofOthers.nurseries.includes(pid))
    await eventually(() => (isThere() ? undefined : 'there is no nursery'), cleanUpMs)
  }

  /** Waits until nothing is left; throws at the deadline with the first kind of leftovers. */
  async check(): Promise<void> {
    await this.before?.()
    await eventually(() => {
      for (const look of this.#looks) {
        const left = look()
        // Looking for the other kinds, too, would be most of the cost of a check.
        if (left.length > 0) return describe(left)
      }
      return undefined
    }, cleanUpMs)
    this.forgetProcesses()
  }

  /** The current leftovers of all kinds, or undefined. */
  describeLeft(): string | undefined {
    return describe(this.#looks.flatMap((look) => look()))
  }

  /** For a disposed Lazaret: its parent cgroup must be gone, too. */
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

  /**
   * Recognized by its cgroup, by its working folder, or by a pid namespace that only a cell of this process had at that
   * time.
   */
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

/** A nursery's launchers have another name, so one that is left behind is still detected. */
function isNursery({ name, parent }: HostProcess): boolean {
  return name === 'nursery' && parent === process.pid
}

function describe(left: readonly string[]): string | undefined {
  return left.length === 0 ? undefined : `left behind: ${left.slice(0, 20).join(', ')}`
}

function countDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

/** Only mounts that could be a cell's, because other programs on the machine may mount something meanwhile. */
function listMounts(): string[] {
  const isOfCells = (line: string) => /lazaret| - (tmpfs|devpts|proc) /.test(line)
  return readFileSync('/proc/self/mountinfo', 'utf8').split('\n').filter(isOfCells)
}

/** The names of this host process's groups contain its pid: lazaret-<pid namespace>-<pid>-<start>-<n>. */
const cgroupPattern = new RegExp(`/lazaret-\\d+-${process.pid}-\\d+-\\d+(/|$)`, 'm')

/** The cgroup folders of this process's Lazarets, in every hierarchy. */
export function listCgroups(pattern = cgroupPattern): string[] {
  const walk = (folder: string, depth: number): string[] => {
    if (depth > cgroupDepthMax) return []
    const folders = listFolders(folder)
    return folders.flatMap((path) => [...(pattern.test(path) ? [path] : []), ...walk(path, depth + 1)])
  }
  return walk('/sys/fs/cgroup', 1)
}

/**
 * Includes what a run without a mount namespace has left in its host's folder, but not that folder itself. Empty
 * folders of a dead host's runs do not count: launchers with separate ids may not remove them from a folder of root's.
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

/** A folder that may not be listed counts as in use. */
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
