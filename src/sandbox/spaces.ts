/** The spaces of one sandbox: the user space, which stands as long as it does, and secure ones, each for one command. */
import type { Clock } from '../core/clock.ts'
import type { Limits } from '../core/limits.ts'
import type { SpawnSpec } from '../jail/guest-process.ts'
import type { LeasedGround, Machine } from '../jail/machine.ts'
import { planRlimits } from '../jail/rlimits.ts'
import { openSandboxCell } from '../jail/sandbox-cell.ts'
import type { SandboxCell, Space } from '../jail/sandbox-cell.ts'
import type { CellShape } from '../jail/shape.ts'

export interface SpacesParts {
  readonly machine: Machine
  readonly clock: Clock
  readonly shape: CellShape
  readonly limits: Limits
  /** The program that commands are lines of. */
  readonly shell: string
}

/** What starting a process in a space takes, besides what it is. */
export type CommonSpec = Pick<
  SpawnSpec,
  'rlimits' | 'hasChannel' | 'adopts' | 'dropsExcess' | 'wallMs' | 'watched' | 'outputBytes'
>

const shellDataBytes = 3 * 1024 * 1024
/** How long a space waits for a command that may never come. */
const waitingMs = 30_000

export class Spaces implements AsyncDisposable {
  readonly parts: SpacesParts
  readonly cell: SandboxCell
  readonly user: Space
  readonly #userGround: LeasedGround
  #secureGround: LeasedGround | undefined
  #waiting: Promise<Space | undefined> | undefined
  #stopWaiting: () => void = () => undefined
  #isOver = false

  private constructor(parts: SpacesParts, cell: SandboxCell, user: Space) {
    this.parts = parts
    this.cell = cell
    this.user = user
    this.#userGround = user.ground
  }

  /** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
  static async open(parts: SpacesParts): Promise<Spaces> {
    const cell = await openSandboxCell(parts)
    let ground: LeasedGround | undefined
    try {
      ground = cell.leaseGround(parts.limits)
      const user = await cell.open('user', ground)
      await user.cell.ready
      return new Spaces(parts, cell, user)
    } catch (error) {
      await cell[Symbol.asyncDispose]()
      ground?.release()
      throw error
    }
  }

  /** For one command. Its limits are its own, so that no other command can keep it from running. */
  async takeSecure(): Promise<Space> {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#stopWaiting()
    return (await waiting) ?? this.#openSecure()
  }

  /** Has the next one stand before it is asked for: it is empty, and holds no secret of anybody. */
  prepareSecure(): void {
    if (this.#waiting !== undefined || this.#isOver) return
    const waiting = this.#openSecure().catch(() => undefined)
    this.#waiting = waiting
    this.#stopWaiting = this.parts.clock.after(waitingMs, () => {
      if (this.#waiting === waiting) this.#waiting = undefined
      void waiting.then((space) => space?.clean())
    })
  }

  #openSecure(): Promise<Space> {
    this.#secureGround ??= this.cell.leaseGround(this.parts.limits)
    return this.cell.open('secure', this.#secureGround)
  }

  commonSpec(space: Space): CommonSpec {
    const { limits, machine } = this.parts
    const { ground } = space
    const rlimits = planRlimits(limits, {
      identity: ground.identity.kind,
      isPid1Counted: true,
      memoryHeldByCgroup: ground.cgroup !== null,
      runtimeDataBytes: shellDataBytes,
      openFilesHard: machine.openFilesHard,
    })
    const watched =
      ground.cgroup === null
        ? { memoryBytes: limits.memoryBytes, cpuMs: null, socketBytes: null }
        : { memoryBytes: null, cpuMs: null, socketBytes: limits.memoryBytes }
    return {
      rlimits,
      watched,
      wallMs: 0,
      hasChannel: false,
      adopts: true,
      dropsExcess: true,
      outputBytes: limits.outputBytes,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#stopWaiting()
    await this.#waiting
    await this.cell[Symbol.asyncDispose]()
    this.#userGround.release()
    this.#secureGround?.release()
    this.#secureGround = undefined
  }
}
