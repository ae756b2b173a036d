/**
 * What this machine offers to cells. A Lazaret finds it out once, by trying, when it is created; then each cell gets
 * one ground.
 */
import { endInOrder } from '../../core/endings.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import type { ProtectionLevel } from '../../core/protection.ts'
import type { CellCgroup, CgroupParent, CgroupRoad } from '../cgroup/cgroup.ts'
import { openCgroups } from '../cgroup/open.ts'
import { lookAtHost } from '../view/host-view.ts'
import type { LimitFigures, LimitGround } from '../limits/limit-rows.ts'
import { limitMechanisms, planCgroup } from '../limits/plan-limits.ts'
import { readTcpMem } from '../limits/socket-memory.ts'
import type { Lookup } from '../edge/lookups.ts'
import { Relays } from '../edge/relays.ts'
import { hostView, ownView } from '../plan/place.ts'
import type { Place } from '../plan/place.ts'
import type { ViewRefused, WallRefused } from '../launch/launch.ts'
import { readHardLimit } from './hard-limits.ts'
import { Leases } from './leases.ts'
import { sweepPrivateFolders } from './private-folder.ts'
import { Nursery } from '../launch/nursery.ts'
import { ReadAhead } from '../view/read-ahead.ts'
import { SharedFolders } from '../view/shared-folders.ts'
import { walls } from '../plan/shape.ts'
import type { CellGround, CellIdentity, HostView, Wall } from '../plan/shape.ts'
import { UidAllocator, idsPerCell } from './uid-range.ts'
import type { UidRange } from './uid-range.ts'
import { WorkFolders } from '../view/work-folders.ts'

/** The ground of one cell, which is returned when the cell is gone. */
export interface LeasedGround extends CellGround {
  /** What the enforcement of its guests' limits depends on. */
  readonly limitGround: LimitGround
  readonly cgroup: CellCgroup | null
  release(): void
}

export interface MachineOptions {
  readonly uidRange: UidRange
  /** Pretends that something is missing, for tests and for `doctor`. */
  readonly without?: readonly ('cgroup' | 'own-uid')[]
  /** Whether requests may have a network policy. If so, cells of zygotes are prepared for one. */
  readonly offersPolicies?: boolean
  /** Replaces the host's lookup of names. */
  readonly lookup?: Lookup | undefined
  /** Called when leftovers of dead hosts were removed, with the number of those hosts. */
  readonly onSwept?: (left: LeftBehind, hosts: number) => void
}

/** What a killed host leaves behind. */
export type LeftBehind = 'cgroups' | 'folders'

/** A bound far above the number of folders that one request can show. */
const refusedLowersMax = 1000

export class Machine {
  /** As cells show it now. */
  hostView: HostView
  readonly architecture: 'x64' | 'arm64'
  readonly identity: 'own' | 'shared'
  /** Why there are no cgroups; empty if there are some. */
  readonly cgroupReason: string
  /** The facts about this machine on which the figures of limits depend. */
  readonly limitFigures: LimitFigures
  /** Starts the launchers of this machine's cells. */
  readonly nursery = new Nursery()
  /** The relays that carry the bytes of cells with a network policy. */
  readonly relays: Relays
  /** Folders that were searched before guests got their inodes. */
  readonly sharedFolders = new SharedFolders()
  readonly readAhead = new ReadAhead()
  readonly offersPolicies: boolean
  readonly #cgroups: CgroupParent | undefined
  readonly #ids: UidAllocator
  readonly #leases = new Leases()
  readonly #work = new WorkFolders()
  readonly #onSwept: MachineOptions['onSwept']
  #wall: Wall = 'namespaces'
  readonly #refusals: WallRefused[] = []
  #swept: Promise<void> | undefined
  #cells = 0

  constructor({ uidRange, without = [], offersPolicies = false, lookup, onSwept }: MachineOptions) {
    this.#onSwept = onSwept
    this.relays = new Relays(lookup)
    this.offersPolicies = offersPolicies
    if (process.platform !== 'linux') {
      throw new LazaretError('JAIL_UNAVAILABLE', {
        detail: `Cells need Linux; this is ${process.platform}.`,
        hint: 'Run on Linux, or in a Linux virtual machine.',
      })
    }
    if (process.arch !== 'x64' && process.arch !== 'arm64') {
      throw new LazaretError('JAIL_UNAVAILABLE', {
        detail: `There is no system call table for ${process.arch}.`,
      })
    }
    this.architecture = process.arch
    this.hostView = lookAtHost()
    this.identity = process.geteuid?.() === 0 && !without.includes('own-uid') ? 'own' : 'shared'
    const answer = without.includes('cgroup')
      ? { reason: 'left out on request' }
      : openCgroups(() => this.nursery.start())
    this.#cgroups = answer.parent
    this.cgroupReason = answer.reason ?? ''
    this.nursery.hold = answer.parent?.hold
    this.#tellOfSwept('cgroups', answer.sweptHosts)
    this.#tellOfSwept('folders', sweepPrivateFolders())
    this.#ids = new UidAllocator(uidRange)
    this.limitFigures = {
      openFilesHard: readHardLimit('Max open files') ?? 1_048_576,
      processesHard: readHardLimit('Max processes') ?? Number.MAX_SAFE_INTEGER,
      tcpMem: readTcpMem(),
    }
  }

  /** The level that a cell built here reaches; the launcher builds all of its layers or nothing. */
  get level(): ProtectionLevel {
    if (this.#wall === 'none') return 'none'
    if (this.#wall === 'landlock') return 'restricted'
    return this.identity === 'own' && this.#cgroups !== undefined ? 'strong' : 'standard'
  }

  /** The kind of wall that cells have here. */
  get wall(): Wall {
    return this.#wall
  }

  /** Why cells here have no better wall: one for each wall that was refused, the best one first. */
  get refusals(): readonly WallRefused[] {
    return this.#refusals
  }

  /** From now on cells are built with the next weaker wall. False if another cell has found that out before. */
  async giveUp(refusal: WallRefused): Promise<boolean> {
    const { wall } = refusal
    const isNews = this.#wall === wall
    if (isNews) {
      this.#wall = walls[walls.indexOf(wall) + 1] ?? 'none'
      this.#refusals.push(refusal)
    }
    await (this.#swept ??= this.#sweepFolders())
    return isNews
  }

  async #sweepFolders(): Promise<void> {
    this.#tellOfSwept('folders', await this.#work.sweep(this.#ids))
  }

  #tellOfSwept(left: LeftBehind, hosts = 0): void {
    if (hosts > 0) this.#onSwept?.(left, hosts)
  }

  /** From now on no cell makes its own view of this folder. False if that was already so. */
  giveUpView({ lower }: ViewRefused): boolean {
    const { refusedLowers } = this.hostView
    if (refusedLowers.includes(lower) || refusedLowers.length >= refusedLowersMax) return false
    this.hostView = { ...this.hostView, refusedLowers: [...refusedLowers, lower] }
    return true
  }

  /** The place of one more run. */
  choosePlace(): Place {
    return this.#wall === 'namespaces' ? ownView : hostView(this.#work.next())
  }

  get cgroupVersion(): 1 | 2 | null {
    return this.#cgroups?.version ?? null
  }

  get cgroupRoad(): CgroupRoad | null {
    return this.#cgroups?.road ?? null
  }

  /** Where the cgroups of cells are created: one folder for each hierarchy. */
  get cgroupFolders(): readonly string[] {
    return this.#cgroups?.folders ?? []
  }

  /** A cell is about to be built: starts the slow preparations for its ground. */
  prepare(): void {
    if (this.identity === 'own') this.#ids.prepare()
  }

  /** `guests` is how many of its guests get their own id, if there are ids. */
  async lease(limits: Limits, guests = 1): Promise<LeasedGround> {
    const pairs = Math.ceil((1 + guests) / idsPerCell)
    const firstId = this.identity === 'own' ? await this.#ids.takeRun(pairs) : null
    const giveBack = () => firstId !== null && this.#ids.giveBackRun(firstId, pairs)
    let cgroup: CellCgroup | null = null
    try {
      cgroup = this.#makeCgroup(limits, this.#limitGround(false))
    } catch (cause) {
      giveBack()
      throw cause
    }
    const identity: CellIdentity = firstId === null ? sharedIdentity() : { kind: 'own', firstId }
    return {
      ...this.#describe(identity, cgroup, this.#limitGround(false)),
      release: this.#leases.add(() => {
        // Ids last: nobody else gets them while anything with them may be alive.
        cgroup?.remove()
        giveBack()
      }),
    }
  }

  /** For a space in a cell: its own cgroup, which the cell's pid 1 may join, and ids that are the cell's. */
  leaseInside({ identity }: LeasedGround, limits: Limits, { sharesId = false } = {}): LeasedGround {
    const limitGround = { ...this.#limitGround(true), sharesId }
    const cgroup = this.#makeCgroup(limits, limitGround)
    if (identity.kind === 'own') cgroup?.admit(identity.firstId)
    const ground = this.#describe(identity, cgroup, limitGround)
    return { ...ground, release: this.#leases.add(() => cgroup?.remove()) }
  }

  #limitGround(isInSpace: boolean): LimitGround {
    const { level, cgroupVersion, identity } = this
    return { level, cgroupVersion, identity, isInSpace }
  }

  #makeCgroup(limits: Limits, limitGround: LimitGround): CellCgroup | null {
    const figures = planCgroup(limits, limitGround, this.limitFigures)
    if (this.#cgroups === undefined || figures === null) return null
    try {
      return this.#cgroups.create(`cell-${++this.#cells}`, figures)
    } catch (cause) {
      throw new LazaretError('CELL_FAILED', {
        detail: `The cell's cgroup could not be created: ${(cause as Error).message}.`,
        cause,
      })
    }
  }

  #describe(
    identity: CellIdentity,
    cgroup: CellCgroup | null,
    limitGround: LimitGround,
  ): Omit<LeasedGround, 'release'> {
    return {
      wall: this.#wall,
      identity,
      cgroupJoins: cgroup?.joins ?? [],
      limitGround,
      memoryHeldByCgroup: limitMechanisms(limitGround).memoryBytes === 'cgroup',
      architecture: this.architecture,
      hostView: this.hostView,
      cgroup,
    }
  }

  /** Call when every cell is gone. Throws END_FAILED with what could not be removed; a second call tries again. */
  async [Symbol.asyncDispose](): Promise<void> {
    await endInOrder('Parts of cells could not be removed', [
      () => this.nursery[Symbol.asyncDispose](),
      () => this.relays[Symbol.asyncDispose](),
      ...this.#leases.unreturned,
      () => this.#work[Symbol.dispose](),
      () => this.#cgroups?.remove(),
      // Other hosts may not get the ids of a cell of which something may be left.
      () => this.#leases.unreturned.length === 0 && this.#ids[Symbol.asyncDispose](),
    ])
  }
}

function sharedIdentity(): CellGround['identity'] {
  return { kind: 'shared', uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
}
