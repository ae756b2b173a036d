/** The spaces of one sandbox: the user space, which stands as long as it does, and secure ones, each for one command. */
import type { Clock } from '../core/clock.ts'
import { endInOrder, endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import { probeAssignedPorts } from '../jail/assigned-ports.ts'
import { behindBestWall } from '../jail/best-wall.ts'
import type { BestWall } from '../jail/best-wall.ts'
import { buildCell, release } from '../jail/build-cell.ts'
import { isStepFailure } from '../jail/cell-reports.ts'
import { explainFailure } from '../jail/launch.ts'
import type { LeasedGround } from '../jail/machine.ts'
import type { Place } from '../jail/place.ts'
import { commonSpec, holdCommands } from './command-limits.ts'
import type { CommonSpec } from './command-limits.ts'
import { Turnstile } from './turnstile.ts'
import { openSandboxCell } from '../jail/sandbox-cell.ts'
import type { SandboxCell, Space } from '../jail/sandbox-cell.ts'
import type { CellShape } from '../jail/shape.ts'

export interface SpacesParts {
  readonly wall: BestWall
  readonly clock: Clock
  readonly shape: Omit<CellShape, 'place'>
  readonly limits: Limits
  /** The program that commands are lines of. */
  readonly shell: string
}

/** How long a space waits for a command that may never come. */
const waitingMs = 30_000

/** Secure commands at one time; others wait for their turn. */
const secureMax = 64

/** Where a kernel has both: a domain of Landlock's keeps to itself which abstract sockets it can reach. */
const scopingAbi = 6

/** What a sandbox turned out to be made of. */
interface Made {
  readonly place: Place
  /** Null without namespaces: then there is one space, and secrets have no place of their own. */
  readonly cell: SandboxCell | null
  readonly user: Space
  readonly landlockAbi: number
}

export class Spaces implements AsyncDisposable {
  readonly parts: SpacesParts
  readonly user: Space
  /** The folder that all spaces share, as commands find it. */
  readonly workspace: string
  /** Whether commands with credentials have a space of their own. */
  readonly hasSecure: boolean
  /** Whether nothing outside of it can look into it. */
  readonly keepsSecrets: boolean
  readonly #cell: SandboxCell | null
  #secureGround: LeasedGround | undefined
  #waiting: Promise<Space | undefined> | undefined
  #stopWaiting: () => void = () => undefined
  readonly #secure = new Turnstile(secureMax)
  #isOver = false

  private constructor(parts: SpacesParts, { place, cell, user, landlockAbi }: Made) {
    this.parts = parts
    this.user = user
    this.workspace = place.workspace
    this.#cell = cell
    this.hasSecure = cell !== null
    this.keepsSecrets = cell !== null && (parts.shape.network === 'none' || landlockAbi >= scopingAbi)
  }

  /** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
  static async open(parts: SpacesParts): Promise<Spaces> {
    const made = await behindBestWall(parts.wall, (place) =>
      place.work === null ? openInNamespaces(parts, place) : openOnHost(parts, place),
    )
    return new Spaces(parts, made)
  }

  /** Whether they keep the host process from ending. */
  hold(isHeld: boolean): void {
    this.user.cell.hold(isHeld)
    this.#cell?.hold(isHeld)
  }

  /** For one command. Its limits are its own, so that no other command can keep it from running. */
  async takeSecure(): Promise<Space> {
    const leave = await this.#secure.enter()
    try {
      const waiting = this.#waiting
      this.#waiting = undefined
      this.#stopWaiting()
      const stood = await waiting
      stood?.cell.hold(true)
      const space = stood ?? (await this.#openSecure())
      return { ...space, clean: () => space.clean().finally(leave) }
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Has the next one stand before it is asked for: it is empty, and holds no secret of anybody. */
  prepareSecure(): void {
    if (this.#waiting !== undefined || this.#isOver || this.#cell === null) return
    const waiting = this.#openSecure().catch(() => undefined)
    void waiting.then((space) => this.#waiting === waiting && space?.cell.hold(false))
    this.#waiting = waiting
    const stop = this.parts.clock.every(waitingMs, () => {
      stop()
      if (this.#waiting === waiting) this.#waiting = undefined
      void waiting.then((space) => this.#giveUp(space)).catch(() => undefined)
    })
    this.#stopWaiting = stop
  }

  /** Its end is waited for, as that of any other. */
  async #giveUp(space: Space | undefined): Promise<void> {
    space?.cell.hold(true)
    await space?.clean()
  }

  async #openSecure(): Promise<Space> {
    if (this.#cell === null) return { ...this.user, clean: () => Promise.resolve() }
    this.#secureGround ??= this.#cell.leaseGround(this.parts.limits)
    return this.#cell.open('secure', this.#secureGround)
  }

  commonSpec(space: Space): CommonSpec {
    const { limits, wall } = this.parts
    const { limitGround } = space.ground
    const { limitFigures } = wall.machine
    return commonSpec(holdCommands(limits, { limitGround, limitFigures, kind: space.kind }))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    this.#stopWaiting()
    const space = await this.#waiting
    space?.cell.hold(true)
    const { clock } = this.parts
    await endInOrder('A sandbox could not be removed', [
      () => this.#cell?.[Symbol.asyncDispose](),
      () => this.user.clean(),
      () => this.#secureGround && release(this.#secureGround, { clock, work: null }),
    ])
  }
}

async function openInNamespaces({ wall, clock, shape, limits }: SpacesParts, place: Place): Promise<Made> {
  const { machine } = wall
  if (shape.network === 'host') requireKept(shape.protectedPorts ?? [])
  const cell = await openSandboxCell({ machine, clock, shape: { ...shape, place }, limits })
  let ground: LeasedGround | undefined
  try {
    ground = cell.leaseGround(limits)
    const leased = ground
    const user = await cell.open('user', leased)
    const clean = endOnce(async () => {
      await user.clean()
      await release(leased, { clock, work: null })
    })
    return { place, cell, user: { ...user, clean }, landlockAbi: await standing(user) }
  } catch (error) {
    // Why there is no sandbox is what its caller wants to know; what is left the machine tells of at its own end.
    await cell[Symbol.asyncDispose]().catch(() => undefined)
    if (ground !== undefined) await release(ground, { clock, work: null }).catch(() => undefined)
    throw error
  }
}

async function openOnHost({ wall, clock, shape, limits }: SpacesParts, place: Place): Promise<Made> {
  if (shape.network === 'host' && (shape.protectedPorts ?? []).length > 0)
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: 'Without namespaces nothing here keeps commands from the ports that are protected.',
      hint: 'Run `lazaret doctor` for the missing layer, or leave them open with `protectedPorts: []`.',
    })
  if (shape.workspace !== undefined)
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: 'Without namespaces a sandbox cannot have a folder of the host as its workspace.',
      hint: 'Run `lazaret doctor` for the missing layer, or leave `workspace` out.',
    })
  const built = await buildCell(
    { shape: { ...shape, place }, limits, hasChannel: false },
    wall.machine,
    clock,
  )
  try {
    const user: Space = { ...built, kind: 'user' }
    return { place, cell: null, user, landlockAbi: await standing(user) }
  } catch (error) {
    await built.clean().catch(() => undefined)
    throw error
  }
}

/** A port that the kernel may give to anybody is nobody's to protect. */
function requireKept(ports: readonly number[]): void {
  const assigned = probeAssignedPorts(ports)
  if (assigned.length === 0) return
  throw new LazaretError('JAIL_UNAVAILABLE', {
    detail: `The kernel of this machine gives out ports that are protected: ${assigned.slice(0, 10).join(', ')}.`,
    hint: 'Reserve them (`sysctl net.ipv4.ip_local_reserved_ports`), or leave them out of `protectedPorts`.',
  })
}

/** Resolves with the kernel's Landlock when it stands. */
async function standing({ cell, plan }: Space): Promise<number> {
  const facts = await cell.ready.catch((failure: unknown) => {
    throw isStepFailure(failure) ? explainFailure(failure, plan) : failure
  })
  return Number(facts['landlock_abi'] ?? 0)
}
