/**
 * SIGKILL at random moments, to the host, to a launcher's stub or to a cell's pid 1, while several runs fork, write and
 * flood. Within a second everything of the host or cell that was struck must be dying, and then nothing is left.
 */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { AdoptedHost, compileAdopt, listChildren } from '../hosts/adopted-host.ts'
import {
  deadMs,
  goneMs,
  describeProcess,
  groupsOf,
  listCellMounts,
  listRunFiles,
  listTree,
  listUnswept,
  untilAlone,
} from '../hosts/dead-hosts.ts'
import { eventually } from '../eventually.ts'
import { listCgroups } from '../machine/leaks.ts'
import { findProcess, isAlive, isDying, readCgroups } from '../machine/processes.ts'
import type { HostProcess } from '../machine/processes.ts'
import { seededRandom } from '../seeded-random.ts'
import { takenBlocks } from '../machine/taken-blocks.ts'
import { compileWithout } from '../hosts/without-layer.ts'
import type { Lacking } from '../hosts/without-layer.ts'

/** Without namespaces, `pid 1` is the warden. */
export type Victim = 'host' | 'stub' | 'pid 1'
export const victims: readonly Victim[] = ['host', 'stub', 'pid 1']

export interface Strikes {
  readonly count: number
  /** The longest time from a signal until the last process that had to die with the victim had ended. */
  readonly slowestMs: number
  /** The number of strikes by the victim's phase. */
  readonly moments: Readonly<Record<string, number>>
}

interface SuddenDeathsPlan {
  readonly seed: number
  readonly rounds: number
  /** The uid that the hosts run as, if not the test's. */
  readonly userId?: number
  /** What the machine lacks for these hosts. */
  readonly lacking?: readonly Lacking[]
}

const mortalHost = join(import.meta.dirname, '../hosts/mortal-host.ts')
/**
 * Two blocks of ids: one for the surviving host, one for all others in turn. So a block that is not freed is noticed.
 * They are this process's, because other tests may be killing hosts at the same time.
 */
const uidRange = { first: 2_200_000_000 + (process.pid % 65_536) * 512, count: 512 }

/** Ages of a cell in milliseconds since the start of its launcher; the host gives every guest 150 ms. */
const ages = { 'being built': [0, 15], running: [15, 150], ending: [150, 190] } as const

export async function strikeAtRandom(plan: SuddenDeathsPlan): Promise<Record<Victim, Strikes>> {
  await using arena = await Arena.open(plan)
  for (let round = 0; round < plan.rounds; round++) await arena.strike()
  await arena.close()
  return arena.strikes
}

class Arena implements AsyncDisposable {
  readonly strikes: Record<Victim, { count: number; slowestMs: number; moments: Record<string, number> }>
  readonly #plan: SuddenDeathsPlan
  readonly #folder = mkdtempSync(join(tmpdir(), 'lazaret-deaths-'))
  readonly #adopt = compileAdopt(this.#folder)
  /** TMPDIR of all hosts, whatever their uid. */
  readonly #temporary = join(this.#folder, 'temporary')
  readonly #prefix: readonly string[]
  readonly #random: () => number
  readonly #mounts = listCellMounts()
  /** Killed hosts, whose cgroups the next host must remove when it starts. */
  readonly #dead: number[] = []
  #hosts = 0
  #rounds = 0
  #survivor!: AdoptedHost
  #survivorPid = 0
  #losses = 0

  private constructor(plan: SuddenDeathsPlan) {
    this.#plan = plan
    this.#random = seededRandom(plan.seed)
    chmodSync(this.#folder, 0o755)
    mkdirSync(this.#temporary)
    chmodSync(this.#temporary, 0o1777)
    const { lacking = [] } = plan
    this.#prefix = lacking.length === 0 ? [] : [compileWithout(this.#folder), ...lacking, '--']
    const none = () => ({ count: 0, slowestMs: 0, moments: {} })
    this.strikes = { host: none(), stub: none(), 'pid 1': none() }
  }

  static async open(plan: SuddenDeathsPlan): Promise<Arena> {
    const arena = new Arena(plan)
    arena.#survivor = arena.#start()
    await arena.#survivor.ready
    arena.#survivorPid = await arena.#survivor.pid
    return arena
  }

  async strike(): Promise<void> {
    // The victims take turns, so even a few rounds strike each kind.
    const victim = victims[this.#rounds++ % victims.length] ?? 'host'
    await (victim === 'host' ? this.#strikeHost() : this.#strikeLauncher(victim))
    assert.deepEqual(listCellMounts(), this.#mounts, 'a mount was left')
  }

  /** Ends the surviving host in an orderly way, and checks that nothing is left of it or of the dead hosts. */
  async close(): Promise<void> {
    const survivor = this.#survivor
    await this.#sweepByAnother()
    survivor.stop()
    await survivor.alone
    assert.equal(survivor.status, 0, 'the host that was not struck ended by itself')
    this.#checkNews(survivor)
    assert.deepEqual(
      listCgroups(groupsOf(this.#survivorPid)),
      [],
      'groups of a host that ended in good order',
    )
    assert.deepEqual(takenBlocks(uidRange), [])
    assert.deepEqual(readdirSync(this.#temporary), [], 'a temporary file was left')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#survivor[Symbol.asyncDispose]()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #start(): AdoptedHost {
    const { seed, userId } = this.#plan
    const number = ++this.#hosts
    return new AdoptedHost({
      adopt: this.#adopt,
      program: [mortalHost, seed + number, uidRange.first, uidRange.count].map(String),
      folder: this.#temporary,
      prefix: this.#prefix,
      ...(userId === undefined ? {} : { userId }),
    })
  }

  /** Kills a host, sometimes before its first cell, mostly during its runs. */
  async #strikeHost(): Promise<void> {
    const early = this.#random() < 0.2
    const waitMs = this.#random() * (early ? 600 : 300)
    const living = listCgroups(groupsOf(this.#survivorPid)).filter(isParent)
    await using host = this.#start()
    const pid = await host.pid
    if (!early) {
      await host.ready
      this.#checkSwept()
    }
    await pause(waitMs)
    host.kill()
    const aloneMs = await untilAlone(host)
    this.#record('host', early ? 'starting' : 'at work', aloneMs)
    this.#checkNews(host, 0)
    this.#dead.push(pid)
    await eventually(() => listRunFiles(pid, this.#temporary).join(', ') || undefined, goneMs)
    assert.ok(takenBlocks(uidRange).length <= 1, `ids are still taken: ${takenBlocks(uidRange).join(', ')}`)
    assert.deepEqual(
      listCgroups(groupsOf(this.#survivorPid)).filter(isParent),
      living,
      'groups of a living host',
    )
  }

  async #strikeLauncher(victim: 'stub' | 'pid 1'): Promise<void> {
    const names = Object.keys(ages) as (keyof typeof ages)[]
    for (;;) {
      const moment = names[Math.floor(this.#random() * names.length)] ?? 'running'
      const [youngest, oldest] = ages[moment]
      const stub = await this.#awaitBirth()
      await pause(youngest + this.#random() * (oldest - youngest))
      const cell = [stub, ...listTree(stub.pid)]
      const chosen = victim === 'stub' ? stub : cell.find((one) => this.#isFirst(one, stub))
      const tokens = cell.flatMap(({ pid }) => readToken(pid) ?? [])
      const groups = new Set(
        cell.flatMap(({ pid }) => /\/(lazaret-\S+\/cell-\d+)$/m.exec(readCgroups(pid))?.[1] ?? []),
      )
      if (chosen === undefined || !isAlive(chosen)) continue // that cell was too young, or too old
      if (!kill(chosen.pid)) continue // it ended by itself just now
      this.#losses++
      const struckAt = performance.now()
      const left = (counts = (_one: HostProcess) => true): string[] => [
        ...cell.filter((one) => isAlive(one) && counts(one)).map(describeProcess),
        ...listHolders(tokens).flatMap((pid) => {
          const one = findProcess(Number(pid))
          return one !== undefined && counts(one) ? `process ${pid} with the token of the run` : []
        }),
      ]
      await eventually(() => left((one) => !isDying(one)).join(', ') || undefined, deadMs)
      await eventually(() => left().join(', ') || undefined, goneMs)
      this.#record(victim, moment, performance.now() - struckAt)
      const isOfCell = (path: string) => [...groups].some((group) => path.endsWith(group))
      await eventually(() => listCgroups(/cell-/).filter(isOfCell).join(', ') || undefined, goneMs)
      return
    }
  }

  /** Whether it is pid 1 of a pid namespace or, without one, the warden: a child of the stub, also named `cell`. */
  #isFirst({ pids, parent, name }: HostProcess, stub: HostProcess): boolean {
    if (this.#prefix.length === 0) return pids.length > stub.pids.length && pids.at(-1) === 1
    return parent === stub.pid && (name === 'cell' || name === stub.name)
  }

  /** Waits for the next launcher that the surviving host starts, itself or through its nursery. */
  async #awaitBirth(): Promise<HostProcess> {
    const known = new Set(listLaunchers(this.#survivorPid).map(({ pid }) => pid))
    for (;;) {
      const born = listLaunchers(this.#survivorPid).find(({ pid }) => !known.has(pid))
      if (born !== undefined) return born
      assert.ok(this.#survivor.status === undefined, 'the host that was not struck has ended')
      await pause(1)
    }
  }

  #record(victim: Victim, moment: string, ms: number): void {
    const strikes = this.strikes[victim]
    strikes.count++
    strikes.slowestMs = Math.max(strikes.slowestMs, Math.round(ms * 10) / 10)
    strikes.moments[moment] = (strikes.moments[moment] ?? 0) + 1
  }

  /** No more runs may be lost than launchers were struck, and no run may end in any other unexpected way. */
  #checkNews(host: AdoptedHost, losses = this.#losses): void {
    const expected = ['completed', 'timed-out', 'limit-exceeded', 'failed', 'killed', 'out-of-memory']
    const lost = host.news.filter(({ end }) => end === 'WORKER_LOST' || end === 'CELL_FAILED')
    const odd = host.news.filter((news) => !expected.includes(news.end) && !lost.includes(news))
    assert.deepEqual(odd, [])
    assert.ok(lost.length <= losses, `${losses} launchers were struck, and lost are ${JSON.stringify(lost)}`)
  }

  /** Call it only after another Lazaret has been created: it must have removed what dead hosts had left. */
  #checkSwept(): void {
    assert.deepEqual(
      listUnswept(this.#dead, this.#temporary),
      [],
      'the next Lazaret left what a dead host had',
    )
  }

  async #sweepByAnother(): Promise<void> {
    await using another = this.#start()
    await another.ready
    this.#checkSwept()
    another.stop()
    await another.alone
    assert.equal(another.status, 0)
    this.#checkNews(another, 0)
  }
}

function isParent(path: string): boolean {
  return !/\/cell-\d+$/.test(path)
}

function listLaunchers(host: number): HostProcess[] {
  return listChildren(host).flatMap((child) => (child.name === 'nursery' ? listChildren(child.pid) : [child]))
}

function readToken(pid: number): string | undefined {
  try {
    return /LAZARET_TOKEN=([\w-]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'latin1'))?.[1]
  } catch {
    return undefined // it has ended, or may not be read: pid 1, or a process that is not a guest yet
  }
}

function listHolders(tokens: readonly string[]): string[] {
  if (tokens.length === 0) return []
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => tokens.includes(readToken(Number(pid)) ?? ''))
}

/** Returns whether the process still existed. */
function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
