/**
 * A cell whose pid 1 is a nursery for spaces, as the host sees it: the common part of a zygote's cell and a sandbox's
 * cell. It is opened once. A space is a launcher that this pid 1 forks; to the rest of the host it is a cell like any
 * other.
 */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import { cleanUp, discard } from './build-cell.ts'
import { Cell } from './cell.ts'
import type { Door } from '../edge/door.ts'
import type { Edge } from '../edge/edge.ts'
import type { RelayProcess } from '../edge/relay-process.ts'
import { frameType } from '../launch/frames.ts'
import { startLauncher } from '../launch/launch.ts'
import { Launches, makeSecret } from '../launch/launches.ts'
import type { Launch } from '../launch/launches.ts'
import type { LeasedGround, Machine } from '../machine/machine.ts'
import { planFamily } from '../plan/plan-family.ts'
import type { CellPlan } from '../plan/plan.ts'
import { encodePlan } from '../plan/plan-records.ts'
import type { CellShape } from '../plan/shape.ts'
import { sourceFacts } from '../view/source-facts.ts'

export interface FamilyOptions {
  readonly machine: Machine
  readonly clock: Clock
  readonly shape: CellShape
  /** Whose cell it is. */
  readonly owner: 'zygote' | 'sandbox'
  /** Limits for everything in it except guests, which have their own limits. */
  readonly limits: Limits
  /** How many guests have their own ids. */
  readonly guestsMax?: number
  /** How long it may take to be built; see `Cell.sendPlan()`. */
  readonly readyMs?: number
  /** Whether its spaces may have a network policy. */
  readonly hasDoors?: boolean
  /** The interpreter whose forks are the guests. */
  readonly program?: {
    readonly argv: readonly string[]
    readonly env: Readonly<Record<string, string>>
    readonly folder?: string
  }
}

/** Forking a launcher takes a fraction of a millisecond. */
const launchMs = 5000

/**
 * `use` waits until the cell is built. Throws JAIL_UNAVAILABLE or CELL_FAILED, or what `use` throws, and leaves nothing
 * behind.
 */
export async function openFamily<T>(
  options: FamilyOptions,
  use: (family: FamilyCell) => Promise<T>,
): Promise<T> {
  const { machine, clock, shape, owner, limits, guestsMax, program } = options
  const launching = await startLauncher(false, machine.nursery)
  let ground: LeasedGround | undefined
  try {
    const relay = options.hasDoors === true ? await machine.relays.current() : undefined
    ground = { ...(await machine.lease(limits, guestsMax)), readAhead: machine.readAhead.next(shape) }
    const family = {
      relay,
      name: `lazaret-${owner}-${clock.id()}`,
      secret: makeSecret(clock),
      cgroupFolders: machine.cgroupFolders,
      argv: program?.argv ?? [],
      env: program?.env ?? {},
      folder: program?.folder ?? shape.place.workspace,
    }
    const plan = planFamily(shape, ground, { family, facts: sourceFacts })
    await machine.sharedFolders.require(shape, plan, clock)
    const cell = await launching.cell
    const opened = new FamilyCell(cell, { ...options, ...family, ground, plan })
    cell.sendPlan(encodePlan(plan.records), options.readyMs)
    return await use(opened)
  } catch (error) {
    await discard(launching, ground, { clock, work: null })
    throw error
  }
}

interface FamilyParts extends FamilyOptions {
  /** The abstract name on which it listens; every user of the machine can read it. */
  readonly name: string
  readonly secret: Uint8Array
  readonly ground: LeasedGround
  readonly plan: CellPlan
  readonly relay: RelayProcess | undefined
}

export class FamilyCell {
  readonly cell: Cell
  /** Called when its interpreter has ended. */
  onBarren = (): void => undefined
  /** Called when callers start (true) or stop (false) waiting for its spaces. */
  onHold = (_isHeld: boolean): void => undefined
  readonly #parts: FamilyParts
  readonly #launches: Launches

  constructor(cell: Cell, parts: FamilyParts) {
    this.cell = cell
    this.#parts = parts
    const launches = new Launches({
      name: parts.name,
      secret: parts.secret,
      kill: (id) => cell.killLauncher(id),
      hold: (isHeld) => this.onHold(isHeld),
    })
    this.#launches = launches
    cell.onNursery = (frame) => {
      if (frame.type === frameType.barren) this.onBarren()
      launches.handle(frame)
    }
    void cell.gone.then(() => launches.lose())
  }

  get name(): string {
    return this.#parts.name
  }

  get ground(): LeasedGround {
    return this.#parts.ground
  }

  get plan(): CellPlan {
    return this.#parts.plan
  }

  /** A cgroup for guests, inside its own. `sharesId`: guests of other spaces have the same id. */
  lease(limits: Limits, { sharesId = false } = {}): LeasedGround {
    return this.#parts.machine.leaseInside(this.ground, limits, { sharesId })
  }

  /**
   * Opens a door for one of its spaces. Throws CELL_FAILED if there is no relay, or if the one that this cell has
   * reached is lost.
   */
  openDoor(edge: Edge | undefined): Door | undefined {
    if (edge === undefined) return undefined
    const { relay, owner } = this.#parts
    if (relay === undefined)
      throw new LazaretError('CELL_FAILED', { detail: `The cell of the ${owner} has no relay.` })
    return edge.open(relay)
  }

  /** The ground for the plan of a space whose guests have this cgroup, named as the family's pid 1 finds it. */
  groundOf(leased: LeasedGround, guest: number) {
    const folders = this.#parts.machine.cgroupFolders
    const cgroupJoins = leased.cgroupJoins.map((path, index) => path.slice((folders[index] ?? '').length + 1))
    return { ...leased, identity: this.ground.identity, guest, around: this.plan.layers, cgroupJoins }
  }

  /** Asks for a launcher. Null when the cell could not be reached. */
  launch(hasChannel: boolean): Promise<Launch | null> {
    return this.#launches.launch(hasChannel)
  }

  /**
   * Sends the plan of a space to its launcher. Throws CELL_FAILED if there is no launcher, because the cell is gone or
   * other processes' connections keep the host's out.
   */
  async build(launch: Launch | null, plan: CellPlan): Promise<Cell> {
    const patience = this.#parts.clock.after(launchMs, () => launch?.giveUp())
    const launcher = await launch?.launcher
    patience()
    if (launcher === null || launcher === undefined)
      throw new LazaretError('CELL_FAILED', {
        detail: `The cell of the ${this.#parts.owner} does not answer.`,
      })
    const cell = new Cell(launcher)
    cell.sendPlan(encodePlan(plan.records))
    return cell
  }

  /** Throws END_FAILED when something of it cannot be removed. */
  clean(): Promise<void> {
    return cleanUp(this.cell, this.ground, { clock: this.#parts.clock, work: null })
  }
}
