/**
 * What this machine gives to cells: found out once, by doing, when a Lazaret is created; then one ground a cell.
 */
import { readFileSync } from 'node:fs'

import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import type { CellCgroup, CgroupParent } from './cgroup/cgroup.ts'
import { openCgroups } from './cgroup/open.ts'
import { lookAtHost } from './host-view.ts'
import type { CellGround, HostView } from './shape.ts'
import { UidAllocator } from './uid-range.ts'
import type { UidRange } from './uid-range.ts'

/** The ground of one cell, to be given back when the cell is gone. */
export interface LeasedGround extends CellGround {
  readonly cgroup: CellCgroup | null
  release(): void
}

export interface MachineOptions {
  readonly uidRange: UidRange
  /** Pretends that something is missing, for tests and for `doctor`. */
  readonly without?: readonly ('cgroup' | 'own-uid')[]
}

export class Machine {
  readonly hostView: HostView
  readonly architecture: 'x64' | 'arm64'
  readonly identity: 'own' | 'shared'
  /** Why there are no cgroups; empty when there are. */
  readonly cgroupReason: string
  /** The host's own hard limit on open files. */
  readonly openFilesHard: number
  readonly #cgroups: CgroupParent | undefined
  readonly #ids: UidAllocator
  #cells = 0

  constructor({ uidRange, without = [] }: MachineOptions) {
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
    const answer = without.includes('cgroup') ? { reason: 'left out on request' } : openCgroups()
    this.#cgroups = answer.parent
    this.cgroupReason = answer.reason ?? ''
    this.#ids = new UidAllocator(uidRange)
    this.openFilesHard = readOpenFilesHard()
  }

  /** The level that a cell built here reaches; the launcher builds all of its layers or nothing. */
  get level(): ProtectionLevel {
    return this.identity === 'own' && this.#cgroups !== undefined ? 'strong' : 'standard'
  }

  get cgroupVersion(): 1 | 2 | null {
    return this.#cgroups?.version ?? null
  }

  async lease(limits: Limits): Promise<LeasedGround> {
    const firstId = this.identity === 'own' ? await this.#ids.take() : null
    let cgroup: CellCgroup | null = null
    try {
      cgroup = this.#cgroups?.create(`cell-${++this.#cells}`, limits) ?? null
    } catch (cause) {
      if (firstId !== null) this.#ids.giveBack(firstId)
      throw new LazaretError('CELL_FAILED', {
        detail: `The cell's cgroup could not be made: ${(cause as Error).message}.`,
        cause,
      })
    }
    return {
      identity: firstId === null ? sharedIdentity() : { kind: 'own', firstId },
      cgroupJoins: cgroup?.joins ?? [],
      memoryHeldByCgroup: cgroup !== null,
      architecture: this.architecture,
      hostView: this.hostView,
      cgroup,
      release: () => {
        cgroup?.remove()
        if (firstId !== null) this.#ids.giveBack(firstId)
      },
    }
  }

  /** Call when every cell is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#cgroups?.remove()
    } finally {
      await this.#ids[Symbol.asyncDispose]()
    }
  }
}

function sharedIdentity(): CellGround['identity'] {
  return { kind: 'shared', uid: process.geteuid?.() ?? 0, gid: process.getegid?.() ?? 0 }
}

/** Soft and hard limit stand in columns; see proc(5). */
function readOpenFilesHard(): number {
  const [, hard] = /^Max open files\s+\S+\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  const value = Number(hard)
  return Number.isFinite(value) ? value : 1_048_576
}
