/**
 * The cell of a sandbox, as the host sees it: a control space that runs no guest and lives as long as the sandbox, and
 * the spaces that it starts. To the rest of the host a space is a cell like any other.
 */
import type { Clock } from '../../core/clock.ts'
import { endOnce } from '../../core/endings.ts'
import type { Limits } from '../../core/limits.ts'
import type { BuiltCell } from './build-cell.ts'
import type { Cell } from './cell.ts'
import { isStepFailure } from './cell-reports.ts'
import { describeDoor } from '../plan/door-records.ts'
import type { Edge } from '../edge/edge.ts'
import { openFamily } from './family-cell.ts'
import type { FamilyCell } from './family-cell.ts'
import { explainFailure } from '../launch/launch.ts'
import type { Launch } from '../launch/launches.ts'
import type { LeasedGround, Machine } from '../machine/machine.ts'
import type { CellPlan } from '../plan/plan.ts'
import { planSandboxSpace } from '../plan/plan-sandbox.ts'
import type { SpaceKind } from '../plan/plan-sandbox.ts'
import type { CellShape } from '../plan/shape.ts'
import { requireQuietWorkspace } from '../view/shared-folders.ts'

export interface SandboxCellOptions {
  readonly machine: Machine
  readonly clock: Clock
  readonly shape: CellShape
  readonly limits: Limits
  /** Its network policy, if it has one. */
  readonly edge?: Edge | undefined
}

/** A space, and the cgroup of its guests. */
export interface Space extends BuiltCell {
  readonly kind: SpaceKind
}

/** Room for the control space, and for the stubs and pid 1s of spaces, of which each running secure command has one. */
const processesOfOurs = 1024
const memoryBytesOfOurs = 256 * 1024 * 1024

/** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
export async function openSandboxCell(options: SandboxCellOptions): Promise<SandboxCell> {
  const { machine, clock, shape, limits } = options
  if (shape.workspace !== undefined) await requireQuietWorkspace(shape.workspace, clock)
  // The control space has mounted the workspace, but the kernel charges a file's pages to their first writer.
  const held = { ...limits, processesMax: processesOfOurs, memoryBytes: memoryBytesOfOurs }
  const wanted = { machine, clock, shape, owner: 'sandbox', limits: held } as const
  return openFamily({ ...wanted, hasDoors: options.edge !== undefined }, async (family) => {
    const sandbox = new SandboxCell(family, options)
    await family.cell.ready.catch((failure: unknown) => {
      throw isStepFailure(failure) ? explainFailure(failure, family.plan) : failure
    })
    return sandbox
  })
}

export class SandboxCell implements AsyncDisposable {
  /** Resolves when nothing of it is alive, its spaces included. */
  readonly gone: Promise<unknown>
  readonly #family: FamilyCell
  readonly #options: SandboxCellOptions
  readonly #spaces = new Set<Space>()
  /** For the first space: requested while the cell is being built, so that it is waiting when that is done. */
  #ahead: Promise<Launch | null> | undefined
  readonly #clean = endOnce(() => this.#cleanUp())

  constructor(family: FamilyCell, options: SandboxCellOptions) {
    const { cell } = family
    this.#family = family
    this.#options = options
    this.gone = cell.gone
    this.#ahead = askAhead(family)
  }

  /** Host pid of the control space's pid 1, for tests and diagnosis. */
  get pid1(): number | undefined {
    return this.#family.cell.pid1
  }

  get identity(): LeasedGround['identity'] {
    return this.#family.ground.identity
  }

  /** Sets whether it keeps the host process alive. */
  hold(isHeld: boolean): void {
    this.#family.cell.hold(isHeld)
  }

  /** Opens a space. Its guests join the cgroup `shared`, if one is given. Throws CELL_FAILED if the sandbox is gone. */
  async open(kind: SpaceKind, shared: LeasedGround): Promise<Space> {
    const { shape, edge } = this.#options
    const door = this.#family.openDoor(edge)
    const ground = { ...shared, edge: describeDoor(edge, door) }
    const plan = planSandboxSpace(shape, this.#family.groundOf(ground, 0), kind)
    const cell = await this.#launch(plan).catch(async (error: unknown) => {
      await door?.close()
      throw error
    })
    const space: Space = {
      kind,
      cell,
      ground: shared,
      plan,
      door,
      clean: endOnce(async () => {
        const closed = door?.close()
        cell.end()
        await closed
        await cell.gone
        this.#spaces.delete(space)
      }),
    }
    this.#spaces.add(space)
    return space
  }

  async #launch(plan: CellPlan): Promise<Cell> {
    const ahead = await this.#ahead
    this.#ahead = undefined
    return this.#family.build(ahead ?? (await this.#family.launch(false)), plan)
  }

  /** A cgroup for guests of its spaces. Return it when they are gone. */
  leaseGround(limits: Limits): LeasedGround {
    return this.#family.lease(limits, { sharesId: true })
  }

  /**
   * Ends everything in it. Resolves when nothing is left; throws END_FAILED otherwise, and tries again when asked to.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#family.cell.hold(true)
    await this.#clean()
  }

  async #cleanUp(): Promise<void> {
    this.#family.cell.end()
    await Promise.allSettled([...this.#spaces].map(async (space) => space.clean()))
    await this.#family.clean()
  }
}

/** The cell listens before it has a pid 1. */
async function askAhead(family: FamilyCell): Promise<Launch | null> {
  const { cell } = family
  const born = new Promise<true>((resolve) => {
    cell.onBorn = () => resolve(true)
  })
  const isBorn = await Promise.race([born, cell.gone.then(() => false)])
  return isBorn ? family.launch(false) : null
}
