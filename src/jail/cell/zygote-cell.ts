/**
 * A cell in which guests are forked, as the host sees it. It is opened once for a program and its imports, and then
 * provides spaces whose guest is a fork of that program. Without a program, guests are started in its spaces. To the rest
 * of the host such a space is a cell like any other.
 */
import type { Clock } from '../../core/clock.ts'
import { endOnce } from '../../core/endings.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { Limits } from '../../core/limits.ts'
import { cleanUp, release } from './build-cell.ts'
import type { BuiltCell } from './build-cell.ts'
import { isStepFailure } from './cell-reports.ts'
import { describeDoor } from '../plan/door-records.ts'
import type { Door } from '../edge/door.ts'
import type { Edge } from '../edge/edge.ts'
import { openFamily } from './family-cell.ts'
import type { FamilyCell } from './family-cell.ts'
import { explainFailure } from '../launch/launch.ts'
import type { LeasedGround, Machine } from '../machine/machine.ts'
import { ownView } from '../plan/place.ts'
import { planSpace } from '../plan/plan-family.ts'
import type { CellPlan } from '../plan/plan.ts'
import type { Bind, CellShape } from '../plan/shape.ts'

export interface ZygoteOptions {
  readonly machine: Machine
  readonly clock: Clock
  readonly program: ZygoteProgram
  /** For the zygote itself; its guests have their own limits. */
  readonly limits: Limits
  /** How many guests at one time. */
  readonly guestsMax: number
  /** Aborting it before the zygote is ready ends the zygote, because imports may never end. */
  readonly signal?: AbortSignal
}

/** An interpreter that speaks the protocol of native/zygote on its descriptor 3. With an empty `argv` there is none. */
export interface ZygoteProgram {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly binds: readonly Bind[]
  /** Its working folder, if that is not the workspace. */
  readonly folder?: string
}

/** How long imports may take; a large library with compiled parts takes seconds on a busy machine. */
const readyMs = 60_000
/** Room for pid 1, the zygote, two of Lazaret's processes for each space, and the short-lived processes of a fork. */
const processesPerGuest = 3

/**
 * Throws RUNTIME_UNAVAILABLE if the program cannot be a zygote or an import fails, and JAIL_UNAVAILABLE or CELL_FAILED
 * as for any cell. Null if cells have no namespaces.
 */
export async function openZygote(options: ZygoteOptions): Promise<Zygote | null> {
  const { machine, clock, program, limits, guestsMax } = options
  if (machine.wall !== 'namespaces') return null
  const shape: CellShape = {
    binds: program.binds,
    network: 'none',
    place: ownView,
    diskBytes: limits.diskBytes,
    guests: guestsMax,
    isTemplate: program.argv.length === 0,
  }
  const held = { ...limits, processesMax: limits.processesMax + guestsMax * processesPerGuest }
  const wanted = {
    machine,
    clock,
    shape,
    owner: 'zygote',
    limits: held,
    guestsMax,
    program,
    readyMs,
    hasDoors: machine.offersPolicies,
  } as const
  return openFamily(wanted, async (family) => {
    const zygote = new Zygote(family, { ...options, shape })
    const facts = await imported(family, options)
    family.cell.hold(false)
    zygote.dataBytes = Number(facts['zygote_data_bytes'] ?? 0)
    return zygote
  })
}

/** Resolves when everything is imported, with what the interpreter reports about itself. */
async function imported(
  { cell, plan }: FamilyCell,
  { signal }: ZygoteOptions,
): Promise<Readonly<Record<string, string>>> {
  const giveUp = () => cell.end()
  if (signal?.aborted === true) giveUp()
  signal?.addEventListener('abort', giveUp)
  try {
    return await cell.ready
  } catch (failure) {
    throw explain(failure, plan)
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }
}

/** Without an errno, the failure is the interpreter's. */
function explain(failure: unknown, plan: CellPlan): unknown {
  if (!isStepFailure(failure)) return failure
  const { errno, step } = failure
  if (errno !== 0) return explainFailure(failure, plan)
  return new LazaretError('RUNTIME_UNAVAILABLE', { detail: `The interpreter cannot be prepared: ${step}` })
}

interface ZygoteParts extends ZygoteOptions {
  readonly shape: CellShape
}

export class Zygote implements AsyncDisposable {
  /** Resolves when no more guests can be forked: the interpreter or its cell has ended. Existing guests continue. */
  readonly gone: Promise<void>
  /** The data that each of its guests has from the start. RLIMIT_DATA has to be this plus what the guest may use. */
  dataBytes = 0
  readonly #family: FamilyCell
  readonly #parts: ZygoteParts
  readonly #freeGuests: number[]
  /**
   * The guests that run or are being forked. If parts of an ended guest cannot be removed, its ids are not used again,
   * and nothing waits for it.
   */
  readonly #guests = new Set<object>()
  readonly #gone = Promise.withResolvers<void>()
  /** Resolved when no guest is left and no more guests will be forked. */
  readonly #empty = Promise.withResolvers<void>()
  #isAlive = true
  #isEnding = false
  readonly #clean = endOnce(() => this.#family.clean())

  constructor(family: FamilyCell, parts: ZygoteParts) {
    this.#family = family
    this.#parts = parts
    this.gone = this.#gone.promise
    this.#freeGuests = Array.from({ length: parts.guestsMax }, (_, index) => index)
    const { cell } = family
    // It serves its guests, so it keeps the process alive exactly as long as they do.
    family.onHold = (isHeld) => cell.hold(isHeld || this.#isEnding)
    family.onBarren = () => this.#end()
    void cell.gone.then(() => this.#end())
  }

  get alive(): boolean {
    return this.#isAlive
  }

  /** Whether its guests are forks of its interpreter. Otherwise they are started. */
  get forks(): boolean {
    return this.#parts.program.argv.length > 0
  }

  /** How many more guests can be forked now. */
  get room(): number {
    return this.#isAlive ? this.#freeGuests.length : 0
  }

  /** Whether no guest of it runs or is being forked. */
  get isEmpty(): boolean {
    return this.#guests.size === 0
  }

  /** Host pid of the cell's pid 1, for tests and diagnosis. */
  get pid1(): number | undefined {
    return this.#family.cell.pid1
  }

  /** The abstract name at which its cell listens, for tests. */
  get name(): string {
    return this.#family.name
  }

  /**
   * A space for one guest. If `forks`, spawn it with `isFork`. Throws CELL_FAILED when there is no room or no zygote.
   */
  async build(limits: Limits, edge?: Edge): Promise<BuiltCell> {
    const { clock, shape } = this.#parts
    const guest = this.#isAlive ? this.#freeGuests.shift() : undefined
    if (guest === undefined)
      throw new LazaretError('CELL_FAILED', {
        detail: this.#isAlive ? 'The zygote has no free slot for another guest.' : 'The zygote is gone.',
      })
    const leave = this.#enter()
    let ground: LeasedGround | undefined
    let door: Door | undefined
    try {
      door = this.#family.openDoor(edge)
      ground = { ...this.#leaseSpace(guest, limits), edge: describeDoor(edge, door) }
      const leased = ground
      const space = { ...shape, diskBytes: limits.diskBytes }
      const plan = planSpace(space, this.#family.groundOf(leased, guest), { isForked: this.forks })
      const cell = await this.#family.build(await this.#family.launch(this.forks), plan)
      return {
        cell,
        ground,
        plan,
        door,
        clean: endOnce(() => cleanUp(cell, leased, { clock, work: null, door }).finally(leave)),
      }
    } catch (error) {
      await door?.close()
      if (ground === undefined) this.#freeGuests.push(guest)
      else await release(ground, { clock, work: null }).catch(() => undefined)
      leave()
      throw error
    }
  }

  /** Forks no more guests, and ends the zygote when the last guest is gone. Resolves then. */
  async retire(): Promise<void> {
    this.#end()
    if (!this.isEmpty) await this.#empty.promise
    await this[Symbol.asyncDispose]()
  }

  /** Ends the zygote with all of its guests. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#end()
    this.#family.cell.hold(true)
    this.#isEnding = true
    await this.#clean()
  }

  #leaseSpace(guest: number, limits: Limits): LeasedGround {
    const ground = this.#family.lease(limits)
    let isGiven = false
    const giveBack = (): void => {
      ground.release()
      // Only now, so that the next guest with these ids does not meet remains of this one.
      if (!isGiven) this.#freeGuests.push(guest)
      isGiven = true
    }
    return { ...ground, release: giveBack }
  }

  /** A guest is being forked. Call the returned function, once or more, when it has ended. */
  #enter(): () => void {
    const guest = {}
    this.#guests.add(guest)
    return () => {
      this.#guests.delete(guest)
      if (!this.#isAlive && this.isEmpty) this.#empty.resolve()
    }
  }

  #end(): void {
    this.#isAlive = false
    this.#gone.resolve()
  }
}
