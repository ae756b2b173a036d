/**
 * After a run nothing of it may be left on the machine: no process, descriptor, cgroup, mount or file. Cells are
 * removed in the background, so a check polls for a while before it reports what is left.
 */
import { chmodSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { viewSite } from '../../../src/jail/view/sources.ts'
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
const usualMs = 20_000
const cgroupDepthMax = 6

/**
 * Whether the runner gave its tests a mount namespace: it names its own in this variable. There nobody else mounts
 * anything, because the namespace is private.
 */
const outerMounts = process.env['LAZARET_TESTS_OUTER_MOUNTS']
const hasOwnMounts = outerMounts !== undefined && outerMounts !== readlinkSync('/proc/self/ns/mnt')

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
    () => this.#listMounts().filter((mount) => !this.#mounts.includes(mount)),
  ]
  /** Called before each check, to end the workers that wait for later runs. */
  before: (() => Promise<void>) | undefined
  #hasNursery = false
  #descriptors = 0
  #mounts: readonly string[] = []
  /** Leftovers that a check has reported. They fail one test, and not all later ones after another wait. */
  readonly #reported = new Set<string>()
  readonly #cleanUpMs: number

  constructor(cleanUpMs = usualMs) {
    this.#cleanUpMs = cleanUpMs
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
    this.#mounts = this.#listMounts()
    let before = countDescriptors()
    await eventually(() => {
      const now = countDescriptors()
      const busy = now !== before || this.#leftProcesses().length > 0
      before = now
      return busy ? 'the first run is still being cleaned up' : undefined
    }, this.#cleanUpMs)
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
    await eventually(() => (isThere() ? undefined : 'there is no nursery'), this.#cleanUpMs)
  }

  /** Waits until nothing is left; throws at the deadline with the first kind of leftovers. */
  async check(): Promise<void> {
    await this.before?.()
    try {
      await eventually(() => {
        for (const look of this.#looks) {
          const left = this.#unreported(look)
          // Looking for the other kinds, too, would be most of the cost of a check.
          if (left.length > 0) return describe(left)
        }
        return undefined
      }, this.#cleanUpMs)
    } catch (error) {
      for (const one of this.#looks.flatMap((look) => look())) this.#reported.add(one)
      this.#descriptors = Math.max(this.#descriptors, countDescriptors())
      throw error
    }
    this.forgetProcesses()
  }

  #unreported(look: () => string[]): string[] {
    return look().filter((one) => !this.#reported.has(one))
  }

  /** The current leftovers of all kinds, or undefined. */
  describeLeft(): string | undefined {
    return describe(this.#looks.flatMap((look) => this.#unreported(look)))
  }

  /** For a disposed Lazaret: its parent cgroup must be gone, too. */
  async checkDisposed(): Promise<void> {
    this.#hasNursery = false
    await this.check()
    const ours = () => listCgroups().filter((path) => !this.#ofOthers.cgroups.includes(path))
    await eventually(() => describe(ours()), this.#cleanUpMs)
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

  /**
   * Mounts that could be a cell's. In the machine's mount namespace other programs mount and unmount at any time, so there
   * only those count that name this check's folder or lie where a cell's view is built.
   */
  #listMounts(): string[] {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    if (hasOwnMounts) return lines.filter((line) => /lazaret| - (tmpfs|devpts|proc) /.test(line))
    return lines.filter((line) => {
      const [, , , root = '', target = ''] = line.split(' ')
      const [, source = ''] = / - \S+ (\S+)/.exec(line) ?? []
      const isOfView = / - (tmpfs|devpts|proc|overlay) /.test(line) && target.startsWith(`${viewSite}/`)
      return [root, target, source].some((path) => path.includes(this.temporaryFolder)) || isOfView
    })
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
