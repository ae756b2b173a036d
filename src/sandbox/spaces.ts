/**
 * The spaces of one sandbox: the user space, which exists as long as the sandbox, and secure ones, each for one
 * command.
 */
import type { Clock } from '../core/clock.ts'
import { endInOrder, endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors/errors.ts'
import type { Limits } from '../core/limits.ts'
import { reportSince } from '../core/network.ts'
import type { Network, NetworkReport } from '../core/network.ts'
import { probeAssignedPorts } from '../jail/machine/assigned-ports.ts'
import { behindBestWall } from '../jail/machine/best-wall.ts'
import type { BestWall } from '../jail/machine/best-wall.ts'
import { buildCell, release } from '../jail/cell/build-cell.ts'
import { openEdge } from '../jail/edge/open-edge.ts'
import type { Edge } from '../jail/edge/edge.ts'
import type { Keyring } from '../jail/edge/secrets/keyring.ts'
import { isStepFailure } from '../jail/cell/cell-reports.ts'
import { explainFailure } from '../jail/launch/launch.ts'
import type { LeasedGround } from '../jail/machine/machine.ts'
import { guestHome } from '../jail/plan/place.ts'
import type { Place } from '../jail/plan/place.ts'
import { requireNamespaces } from '../policy/network/require-namespaces.ts'
import { packageCommands, packageVariables } from '../runtimes/packages/guest-packages.ts'
import type { PackageFolders } from '../runtimes/packages/guest-packages.ts'
import { commonSpec, holdCommands } from './commands/command-limits.ts'
import type { CommonSpec } from './commands/command-limits.ts'
import { programPath } from './sessions/shell-text.ts'
import { Semaphore } from './commands/semaphore.ts'
import { openSandboxCell } from '../jail/cell/sandbox-cell.ts'
import type { SandboxCell, Space } from '../jail/cell/sandbox-cell.ts'
import type { CellShape } from '../jail/plan/shape.ts'

export interface SpacesParts {
  readonly wall: BestWall
  readonly clock: Clock
  readonly shape: Omit<CellShape, 'place'>
  readonly limits: Limits
  /** The network; for all but `host` the shape has a namespace. */
  readonly network: Network
  /** The package folders that the shape shows. */
  readonly packages: PackageFolders
  /** The folder of the Python of runs, if that is not the machine's own. PATH names it first. */
  readonly pythonFolder?: string | undefined
  /** Variables that name the operator's certificates, for a sandbox with a network. */
  readonly certificates?: Readonly<Record<string, string>>
  /** Secrets that the sandbox's network inserts into requests. */
  readonly keyring?: Keyring | undefined
  /** The path of the shell that runs commands. */
  readonly shell: string
}

interface ContextHold {
  readonly limits: Limits
  readonly runtimeDataBytes: number
}

/** How long a space waits for a command that may never come. */
const waitingMs = 30_000

/** Secure commands at one time; others wait for their turn. */
const secureMax = 64

/** From this Landlock ABI on, abstract sockets outside of a guest's domain can be made unreachable. */
const scopingAbi = 6

/** The parts of an opened sandbox. */
interface Made {
  readonly place: Place
  /** Null without namespaces: then there is only one space, in which commands with credentials run, too. */
  readonly cell: SandboxCell | null
  readonly user: Space
  readonly landlockAbi: number
  readonly edge?: Edge | undefined
}

export class Spaces implements AsyncDisposable {
  readonly parts: SpacesParts
  /** PATH, and the variables with which commands find the operator's packages. */
  readonly programVariables: Readonly<Record<string, string>>
  readonly user: Space
  /** The folder that all spaces share, as commands find it. */
  readonly workspace: string
  /** The value of `HOME` in every space. The folder is empty in a secure space. */
  readonly home: string
  /** Whether commands with credentials have their own space. */
  readonly hasSecure: boolean
  /** Whether no process outside of a secure space can inspect it. */
  readonly keepsSecrets: boolean
  /** Whether commands have their own view of the file system, with the same paths in every sandbox. */
  readonly isOwnView: boolean
  readonly #cell: SandboxCell | null
  readonly #edge: Edge | undefined
  #secureGround: LeasedGround | undefined
  #waiting: Promise<Space | undefined> | undefined
  #stopWaiting: () => void = () => undefined
  readonly #secure = new Semaphore(secureMax)
  #isOver = false

  private constructor(parts: SpacesParts, { place, cell, user, landlockAbi, edge }: Made) {
    this.parts = parts
    this.user = user
    this.workspace = place.workspace
    this.isOwnView = place.work === null
    this.home = this.isOwnView ? guestHome : place.workspace
    const commands = packageCommands(parts.packages, place)
    const path = [programPath(parts.pythonFolder), ...commands].join(':')
    const trust = this.isOwnView && parts.network !== 'none' ? parts.certificates : {}
    const secrets = parts.keyring?.placeholders
    this.programVariables = { PATH: path, ...packageVariables(parts.packages, place), ...trust, ...secrets }
    this.#cell = cell
    this.#edge = edge
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

  /** Returns a function that reports the network activity of all spaces since this call, if there is a network policy. */
  watchNetwork(): () => NetworkReport | undefined {
    const before = this.#edge?.report
    return () => reportSince(before, this.#edge?.report)
  }

  /** Sets whether the spaces keep the host process alive. */
  hold(isHeld: boolean): void {
    this.user.cell.hold(isHeld)
    this.#cell?.hold(isHeld)
  }

  /** Returns a space for one command, with its own limits, so other commands cannot use up its resources. */
  async takeSecure(): Promise<Space> {
    const leave = await this.#secure.acquire()
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

  /** Creates the next secure space before it is requested. It is empty and contains no secrets. */
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

  /** Until the space is removed, it keeps the host process alive. */
  async #giveUp(space: Space | undefined): Promise<void> {
    space?.cell.hold(true)
    await space?.clean()
  }

  async #openSecure(): Promise<Space> {
    if (this.#cell === null) return { ...this.user, clean: () => Promise.resolve() }
    this.#secureGround ??= this.#cell.leaseGround(this.parts.limits)
    return this.#cell.open('secure', this.#secureGround)
  }

  /** Returns a space for one code context, with its own limits. Throws JAIL_UNAVAILABLE, CELL_FAILED. */
  async openContext(limits: Limits): Promise<Space> {
    const cell = this.#cell
    if (cell === null)
      throw new LazaretError('JAIL_UNAVAILABLE', {
        detail: 'Without namespaces Lazaret cannot protect the process of a code context from commands.',
        hint: 'Run `lazaret doctor` for the missing layer, or run programs with `run()` or `exec()`.',
      })
    const ground = cell.leaseGround(limits)
    const giveBack = () => release(ground, { clock: this.parts.clock, work: null })
    try {
      const space = await cell.open('context', ground)
      return {
        ...space,
        clean: endOnce(() =>
          endInOrder('A code context could not be removed', [() => space.clean(), giveBack]),
        ),
      }
    } catch (error) {
      await giveBack().catch(() => undefined)
      throw error
    }
  }

  /** `own` is for a context, which has its own limits and whose interpreter uses memory before it runs any code. */
  commonSpec(space: Space, own: Partial<ContextHold> = {}): CommonSpec {
    const { limits = this.parts.limits, runtimeDataBytes } = own
    const { wall } = this.parts
    const { limitGround } = space.ground
    const { limitFigures } = wall.machine
    return commonSpec(holdCommands(limits, { limitGround, limitFigures, kind: space.kind, runtimeDataBytes }))
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

async function openInNamespaces(
  { wall, clock, shape, limits, network, keyring }: SpacesParts,
  place: Place,
): Promise<Made> {
  const { machine } = wall
  const edge = openEdge(network, { machine, clock, keyring })
  if (shape.network === 'host') requireKept(shape.protectedPorts ?? [])
  const cell = await openSandboxCell({ machine, clock, shape: { ...shape, place }, limits, edge })
  let ground: LeasedGround | undefined
  try {
    ground = cell.leaseGround(limits)
    const leased = ground
    const user = await cell.open('user', leased)
    const clean = endOnce(async () => {
      await user.clean()
      await release(leased, { clock, work: null })
    })
    return { place, cell, user: { ...user, clean }, landlockAbi: await standing(user), edge }
  } catch (error) {
    // The caller gets the original error. Whatever cannot be removed is reported when the machine ends.
    await cell[Symbol.asyncDispose]().catch(() => undefined)
    if (ground !== undefined) await release(ground, { clock, work: null }).catch(() => undefined)
    throw error
  }
}

async function openOnHost({ wall, clock, shape, limits, network }: SpacesParts, place: Place): Promise<Made> {
  requireNamespaces(network, wall)
  if (shape.network === 'host' && (shape.protectedPorts ?? []).length > 0)
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: 'Without namespaces Lazaret cannot keep commands from binding the protected ports.',
      hint: 'Run `lazaret doctor` for the missing layer, or leave them open with `protectedPorts: []`.',
    })
  if (shape.workspace !== undefined)
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: 'Without namespaces a sandbox cannot use a folder of the host as its workspace.',
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

/** A port that the kernel may assign to any process cannot be protected. */
function requireKept(ports: readonly number[]): void {
  const assigned = probeAssignedPorts(ports)
  if (assigned.length === 0) return
  throw new LazaretError('JAIL_UNAVAILABLE', {
    detail: `The kernel of this machine may assign protected ports: ${assigned.slice(0, 10).join(', ')}.`,
    hint: 'Reserve them (`sysctl net.ipv4.ip_local_reserved_ports`), or leave them out of `protectedPorts`.',
  })
}

/** Resolves with the kernel's Landlock ABI when the space is built. */
async function standing({ cell, plan }: Space): Promise<number> {
  const facts = await cell.ready.catch((failure: unknown) => {
    throw isStepFailure(failure) ? explainFailure(failure, plan) : failure
  })
  return Number(facts['landlock_abi'] ?? 0)
}
