/** Builds a cell from its shape, and removes everything of it again if that fails. */
import { existsSync } from 'node:fs'

import type { Clock } from '../../core/clock.ts'
import { endAtOnce, endOnce } from '../../core/endings.ts'
import type { Limits } from '../../core/limits.ts'
import type { Cell } from './cell.ts'
import { startLauncher } from '../launch/launch.ts'
import type { Launching } from '../launch/launch.ts'
import { describeDoor } from '../plan/door-records.ts'
import type { Door } from '../edge/door.ts'
import { policyUnenforceable } from '../edge/door.ts'
import type { Edge } from '../edge/edge.ts'
import type { LeasedGround, Machine } from '../machine/machine.ts'
import { planCell } from '../plan/plan.ts'
import type { CellPlan } from '../plan/plan.ts'
import { planRestrictedCell } from '../plan/restricted-plan.ts'
import { encodePlan } from '../plan/plan-records.ts'
import type { CellShape } from '../plan/shape.ts'
import { sourceFacts } from '../view/source-facts.ts'
import { removeRun } from '../view/work-folders.ts'

export interface CellRequest {
  readonly shape: CellShape
  readonly limits: Limits
  /** Whether the cell's guest gets a private channel to the host. */
  readonly hasChannel: boolean
  /** Its network policy, if it has one. */
  readonly edge?: Edge | undefined
}

export interface BuiltCell {
  /** Everything sent to it waits until it is built; `cell.ready` tells whether that succeeds. */
  readonly cell: Cell
  readonly ground: LeasedGround
  readonly plan: CellPlan
  /** Its exit to the network, if it has a network policy. */
  readonly door?: Door | undefined
  /**
   * Ends the cell, waits until it is gone and releases its ground, with the cgroup's counts. Throws END_FAILED if
   * something of it cannot be removed; the next call tries again.
   */
  clean(): Promise<void>
}

/** Throws JAIL_UNAVAILABLE or CELL_FAILED, with nothing left behind. */
export async function buildCell(
  { shape, limits, hasChannel, edge }: CellRequest,
  machine: Machine,
  clock: Clock,
): Promise<BuiltCell> {
  if (edge !== undefined && shape.place.work !== null) throw policyUnenforceable()
  // Called first, so that host ids are claimed while the launcher starts.
  machine.prepare()
  const launching = await startLauncher(hasChannel, machine.nursery)
  let ground: LeasedGround | undefined
  let door: Door | undefined
  try {
    const relay = edge && (await machine.relays.current())
    door = relay && edge?.open(relay)
    const readAhead = machine.readAhead.next(shape)
    ground = { ...(await machine.lease(limits)), edge: describeDoor(edge, door, relay), readAhead }
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
      door,
      clean: endOnce(() => cleanUp(cell, leased, { clock, work, door })),
    }
  } catch (error) {
    await door?.close()
    await discard(launching, ground, { clock, work: shape.place.work })
    throw error
  }
}

const releaseTries = 20
const releasePauseMs = 25

interface Remains {
  readonly clock: Clock
  /** The folder of its run on the host's disk, if it has one. */
  readonly work: string | null
  readonly door?: Door | undefined
}

/** Throws END_FAILED when something cannot be removed. */
export async function cleanUp(
  cell: Cell,
  ground: LeasedGround,
  { clock, work, door }: Remains,
): Promise<void> {
  const closed = door?.close()
  cell.end()
  await closed
  await cell.gone
  await release(ground, { clock, work })
}

/**
 * After the last process, the kernel may need a moment before a cgroup can be removed; so may processes that outlived
 * the launcher.
 */
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
        return endAtOnce('Parts of a cell could not be removed', [
          () => {
            throw error
          },
        ])
      await new Promise<void>((resolve) => clock.after(releasePauseMs, resolve))
    }
  }
}

/**
 * For a cell that could not be built: removes everything of it. If something remains, the machine reports it when it is
 * disposed. Never throws, because the caller needs the reason why the cell could not be built.
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
