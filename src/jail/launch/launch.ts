/** Starts the launcher, and says what its failures mean. */
import { getSystemErrorMap } from 'node:util'

import { LazaretError } from '../../core/errors/errors.ts'
import { Cell } from '../cell/cell.ts'
import type { StepFailure } from '../cell/cell-reports.ts'
import { adviseOn, isExhaustion, isOfWall, isViewRefusal } from '../machine/advice.ts'
import { spawnLauncher } from './launcher.ts'
import type { Nursery } from './nursery.ts'
import type { Launch } from './launches.ts'
import type { CellPlan } from '../plan/plan.ts'
import { describeRecord } from '../plan/plan-records.ts'
import type { PlanRecord } from '../plan/plan-records.ts'
import type { Wall } from '../plan/shape.ts'
import { partOf } from '../view/sources.ts'
import { lookAround } from '../machine/surroundings.ts'
import type { Surroundings } from '../machine/surroundings.ts'

/** A cell whose launcher is being started. */
export interface Launching {
  /** Resolves when the launcher waits for its plan; rejects if none can be started. */
  readonly cell: Promise<Cell>
}

/** Resolves when the launcher is being started. Throws JAIL_UNAVAILABLE or CELL_FAILED when none can be. */
export async function startLauncher(hasChannel: boolean, nursery: Nursery): Promise<Launching> {
  const launch = await nursery.launch(hasChannel)
  const cell = launch === null ? Promise.resolve(spawnCell(hasChannel, nursery)) : nurse(launch)
  cell.catch(() => undefined) // callers that wait get the rejection; before that nobody handles it
  return { cell }

  async function nurse({ launcher }: Launch): Promise<Cell> {
    const nursed = await launcher
    return nursed === null ? spawnCell(hasChannel, nursery) : new Cell(nursed)
  }
}

function spawnCell(hasChannel: boolean, nursery: Nursery): Cell {
  const cell = new Cell(spawnLauncher(hasChannel))
  cell.ready.then(
    () => nursery.noteSpawned(),
    () => undefined,
  )
  return cell
}

/** The kernel or a policy of the machine refuses part of the wall; a weaker wall may still be possible. */
export class WallRefused extends LazaretError {
  readonly wall: Wall

  constructor(wall: Wall, options: { readonly detail: string; readonly hint: string }) {
    super('JAIL_UNAVAILABLE', options)
    this.wall = wall
  }
}

/** The kernel refuses an overlay of a folder, which can be shown through another one, or as it is. */
export class ViewRefused extends LazaretError {
  /** The folder that was to be its layer, or the part of its view that cannot be found. */
  readonly lower: string

  constructor(lower: string, options: { readonly detail: string }) {
    super('JAIL_UNAVAILABLE', options)
    this.lower = lower
  }
}

/** What a failed step means to the caller. */
export function explainFailure(
  failure: StepFailure,
  plan: CellPlan,
  around: Surroundings = lookAround(),
): LazaretError {
  const record = failure.record === null ? null : (plan.records[failure.record] ?? null)
  const [name] = systemError(failure.errno)
  const place = record === null ? '' : ` (${describeRecord(record)})`
  const refusal = { record, step: failure.step, errno: name }
  const lower = record === null ? undefined : findLower(record, plan.records, failure.step)
  const hint = adviseOn(refusal, around)
  const detail = `Step "${failure.step}"${place} failed: ${describeErrno(failure.errno)}.`
  if (lower !== undefined && isViewRefusal(refusal)) return new ViewRefused(lower, { detail })
  if (hint === undefined) return new LazaretError('CELL_FAILED', { detail })
  if (isExhaustion(refusal, around)) return new LazaretError('CELL_FAILED', { detail, hint })
  return isOfWall(plan.wall, refusal)
    ? new WallRefused(plan.wall, { detail, hint })
    : new LazaretError('JAIL_UNAVAILABLE', { detail, hint })
}

/** `EACCES, permission denied`. */
export function describeErrno(errno: number): string {
  return systemError(errno).join(', ')
}

function systemError(errno: number): readonly [name: string, meaning: string] {
  return getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, 'unknown error']
}

/**
 * The folder whose view was being made when a record failed. A part that cannot be found says nothing about others: guests
 * may own a folder that leads to it, and could make all cells do without the view.
 */
function findLower(record: PlanRecord, records: readonly PlanRecord[], step: string): string | undefined {
  if (record.do === 'open-lower') return record.path
  const before = records.slice(0, records.indexOf(record) + 1)
  const view = record.do === 'own-view' || record.do === 'bind-own' ? before.findLast(isView) : undefined
  const lower = records.find((one) => one.do === 'open-lower' && one.slot === view?.slot)
  if (lower?.do !== 'open-lower') return undefined
  const isPart = record.do === 'bind-own' && step === 'find a part of a view'
  return isPart ? partOf(lower.path, record.source) : lower.path
}

const isView = (record: PlanRecord): record is Extract<PlanRecord, { do: 'own-view' }> =>
  record.do === 'own-view'
