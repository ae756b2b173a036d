/**
 * The cell of a sandbox on the host's side: a control space that runs no guest and lives as long as the sandbox, and the
 * spaces that it starts. To the rest of the host a space is a cell like any other.
 */
import type { Clock } from '../core/clock.ts'
import { endOnce } from '../core/endings.ts'
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import { cleanUp, discard } from './build-cell.ts'
import type { BuiltCell } from './build-cell.ts'
import { isStepFailure } from './cell-reports.ts'
import { Cell } from './cell.ts'
import { explainFailure, startLauncher } from './launch.ts'
import { Launches, makeSecret } from './launches.ts'
import type { Launch } from './launches.ts'
import type { LeasedGround, Machine } from './machine.ts'
import { planFamily } from './plan-family.ts'
import type { CellPlan } from './plan.ts'
import { encodePlan } from './plan-records.ts'
import { planSandboxSpace } from './plan-sandbox.ts'
import type { SpaceKind } from './plan-sandbox.ts'
import type { CellShape } from './shape.ts'
import { requireQuietWorkspace } from './shared-folders.ts'
import { sourceFacts } from './source-facts.ts'

export interface SandboxCellOptions {
  readonly machine: Machine
  readonly clock: Clock
  readonly shape: CellShape
  readonly limits: Limits
}

/** A space, and the cgroup of its guests. */
export interface Space extends BuiltCell {
  readonly kind: SpaceKind
}

/** Forking a launcher takes a fraction of a millisecond. */
const launchMs = 5000
/** Control, stubs and the first processes of spaces, of which there is one for each secure command that runs. */
const processesOfOurs = 1024
const memoryBytesOfOurs = 256 * 1024 * 1024

/** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
export async function openSandboxCell(options: SandboxCellOptions): Promise<SandboxCell> {
  const { machine, clock, shape, limits } = options
  if (shape.workspace !== undefined) await requireQuietWorkspace(shape.workspace, clock)
  const launching = await startLauncher(false, machine.nursery)
  let ground: LeasedGround | undefined
  try {
    // The control space holds the workspace, but what guests write is charged to whoever writes it first.
    ground = await machine.lease({ ...limits, processesMax: processesOfOurs, memoryBytes: memoryBytesOfOurs })
    const family = {
      name: `lazaret-sandbox-${clock.id()}`,
      secret: makeSecret(clock),
      cgroupFolders: machine.cgroupFolders,
      argv: [],
      env: {},
    }
    const plan = planFamily(shape, ground, { family, facts: sourceFacts })
    await machine.sharedFolders.require(shape, plan, clock)
    const cell = await launching.cell
    cell.sendPlan(encodePlan(plan.records))
    const sandbox = new SandboxCell(cell, { ...options, ground, family, plan })
    await cell.ready.catch((failure: unknown) => {
      throw isStepFailure(failure) ? explainFailure(failure, plan) : failure
    })
    return sandbox
  } catch (error) {
    await discard(launching, ground, { clock, work: null })
    throw error
  }
}

interface SandboxCellParts extends SandboxCellOptions {
  readonly ground: LeasedGround
  readonly plan: CellPlan
  readonly family: { readonly name: string; readonly secret: Uint8Array }
}

export class SandboxCell implements AsyncDisposable {
  /** Resolves when nothing of it is alive, its spaces included. */
  readonly gone: Promise<unknown>
  readonly #cell: Cell
  readonly #parts: SandboxCellParts
  readonly #launches: Launches
  readonly #spaces = new Set<Space>()
  /** Of the first space: asked for while the cell is being built, so that it waits there when that is done. */
  #ahead: Promise<Launch | null> | undefined
  #isBuilt = false
  readonly #clean = endOnce(() => this.#cleanUp())

  constructor(cell: Cell, parts: SandboxCellParts) {
    this.#cell = cell
    this.#parts = parts
    this.gone = cell.gone
    this.#launches = new Launches({
      ...parts.family,
      kill: (id) => cell.killLauncher(id),
      hold: () => undefined,
    })
    cell.onNursery = (frame) => this.#launches.handle(frame)
    void cell.gone.then(() => this.#launches.lose())
    const stopAsking = () => {
      this.#isBuilt = true
    }
    cell.ready.then(stopAsking, stopAsking)
    this.#ahead = this.#askAhead()
  }

  /** Host pid of the control space's pid 1, for tests and diagnosis. */
  get pid1(): number | undefined {
    return this.#cell.pid1
  }

  get identity(): LeasedGround['identity'] {
    return this.#parts.ground.identity
  }

  /** Whether it keeps the host process from ending. */
  hold(isHeld: boolean): void {
    this.#cell.hold(isHeld)
  }

  /** Its guests share a cgroup, `shared`, when one is given. Throws CELL_FAILED when the sandbox is gone. */
  async open(kind: SpaceKind, shared: LeasedGround): Promise<Space> {
    const { machine, clock, shape, ground: own, plan: around } = this.#parts
    const hasOwnView = around.layers.includes('own-view')
    const folders = machine.cgroupFolders
    const cgroupJoins = shared.cgroupJoins.map((path, index) => path.slice((folders[index] ?? '').length + 1))
    const ground = { ...shared, identity: own.identity, guest: 0, hasOwnView, cgroupJoins }
    const plan = planSandboxSpace(shape, ground, kind)
    const ahead = await this.#ahead
    this.#ahead = undefined
    const launch = ahead ?? (await this.#launches.launch(false))
    const patience = clock.after(launchMs, () => launch?.giveUp())
    const launcher = await launch?.launcher
    patience()
    if (launcher === null || launcher === undefined)
      throw new LazaretError('CELL_FAILED', { detail: 'The cell of the sandbox does not answer.' })
    const cell = new Cell(launcher)
    cell.sendPlan(encodePlan(plan.records))
    const space: Space = {
      kind,
      cell,
      ground: shared,
      plan,
      clean: endOnce(async () => {
        cell.end()
        await cell.gone
        this.#spaces.delete(space)
      }),
    }
    this.#spaces.add(space)
    return space
  }

  /** For the guests of its spaces. Give it back when they are gone. */
  leaseGround(limits: Limits): LeasedGround {
    return this.#parts.machine.leaseInside(this.#parts.ground, limits)
  }

  /** Ends everything in it. Resolves when nothing is left; throws END_FAILED otherwise, and tries again when asked to. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#cell.hold(true)
    await this.#clean()
  }

  /** It listens soon after it has its plan. */
  async #askAhead(): Promise<Launch | null> {
    while (!this.#isBuilt) {
      const launch = await this.#launches.launch(false)
      if (launch !== null) return launch
      await new Promise<void>((resolve) => this.#parts.clock.after(1, resolve))
    }
    return null
  }

  async #cleanUp(): Promise<void> {
    const { ground, clock } = this.#parts
    this.#cell.end()
    await Promise.allSettled([...this.#spaces].map(async (space) => space.clean()))
    await cleanUp(this.#cell, ground, { clock, work: null })
  }
}
