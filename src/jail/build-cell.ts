/** Builds a cell from its shape, and removes everything of it again if that fails. */
import { existsSync } from 'node:fs'

import type { Clock } from '../core/clock.ts'
import { endAtOnce, endOnce } from '../core/endings.ts'
import type { Limits } from '../core/limits.ts'
import type { Cell } from './cell.ts'
import { startLauncher } from './launch.ts'
import type { Launching } from './launch.ts'
import type { LeasedGround, Machine } from './machine.ts'
import { planCell } from './plan.ts'
import type { CellPlan } from './plan.ts'
import { planRestrictedCell } from './restricted-plan.ts'
import { encodePlan } from './plan-records.ts'
import type { CellShape } from './shape.ts'
import { sourceFacts } from './source-facts.ts'
import { removeRun } from './work-folders.ts'

export interface CellRequest {
  readonly shape: CellShape
  readonly limits: Limits
  /** Whether the cell's guest gets a private channel. */
  readonly hasChannel: boolean
}

export interface BuiltCell {
  /** What is sent to it waits until it stands; whether it does is told by `cell.ready`. */
  readonly cell: Cell
  readonly ground: LeasedGround
  readonly plan: CellPlan
  /**
   * Ends the cell, waits until it is gone and gives its ground back. What the cgroup counted is lost then. Throws
   * END_FAILED when something of it cannot be removed; the next call tries again.
   */
  clean(): Promise<void>
}

/** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
export async function buildCell(
  { shape, limits, hasChannel }: CellRequest,
  machine: Machine,
  clock: Clock,
): Promise<BuiltCell> {
  // First, so that they start while the plan is being made.
  machine.prepare()
  const launching = await startLauncher(hasChannel, machine.nursery)
  let ground: LeasedGround | undefined
  try {
    ground = await machine.lease(limits)
    const { work } = shape.place
    const plan =
      work === null ? planCell(shape, ground, sourceFacts) : planRestrictedCell(shape, ground, work)
    await machine.sharedFolders.require(shape, plan, clock)
    const records = encodePlan(plan.records)
    const cell = await launching.cell
    cell.sendPlan(records)
    const leased = ground
    return {
      cell,
      ground,
      plan,
      clean: endOnce(() => cleanUp(cell, leased, { clock, work })),
    }
  } catch (error) {
    await discard(launching, ground, { clock, work: shape.place.work })
    throw error
  }
}

const releaseTries = 20
const releasePauseMs = 25

interface Remains {
  readonly clock: Clock
  /** The folder of its run on the host's disk, where it has one. */
  readonly work: string | null
}

/** Throws END_FAILED when something cannot be removed. */
export async function cleanUp(cell: Cell, ground: LeasedGround, { clock, work }: Remains): Promise<void> {
  cell.end()
  await cell.gone
  await release(ground, { clock, work })
}

/** The kernel may need a moment after the last process before it lets a cgroup go; so may who outlived the launcher. */
export async function release(ground: LeasedGround, { clock, work }: Remains): Promise<void> {
  for (let tries = 1; ; tries++) {
    // The launcher has emptied it, unless it failed or was killed. The ids are still this cell's.
    if (work !== null) await removeRun(work, { endsGuests: true })
    try {
      if (work !== null && existsSync(work)) throw new Error(`${work} is still there.`)
      ground.release()
      return
    } catch (error) {
      if (tries === releaseTries)
        return endAtOnce('What a cell was made of could not be removed', [
          () => {
            throw error
          },
        ])
      await new Promise<void>((resolve) => clock.after(releasePauseMs, resolve))
    }
  }
}

/**
 * For a cell that could not be built: nothing of it is left, or else the machine tells of it at its own end. Never
 * throws, because why it could not be built is what its caller wants to know.
 */
export async function discard(
  { cell: starting }: Launching,
  ground: LeasedGround | undefined,
  remains: Remains,
): Promise<void> {
  const cell = await starting.catch(() => undefined)
  cell?.end()
  await cell?.gone
  if (ground !== undefined) await release(ground, remains).catch(() => undefined)
}
