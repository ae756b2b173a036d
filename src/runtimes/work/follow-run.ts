/** Follows a run from the start of its guest to the evidence. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { BuiltCell } from '../../jail/cell/build-cell.ts'
import type { LimitPlan } from '../../jail/limits/plan-limits.ts'
import type { Machine } from '../../jail/machine/machine.ts'
import type { Place } from '../../jail/plan/place.ts'
import type { Bind } from '../../jail/plan/shape.ts'
import type { Exit } from '../../result/exit.ts'
import { collectFiles, lostFiles, noFiles } from '../collect/collect-files.ts'
import type { CollectedFiles } from '../collect/collect-files.ts'
import type { Job } from './guest-start.ts'
import { Run } from './run.ts'

export interface RunContext {
  readonly machine: Machine
  readonly clock: Clock
  /** The operator's read-only folders. */
  readonly readable: readonly Bind[]
}

export interface RunEnd {
  readonly exit: Exit
  readonly collected: CollectedFiles
  /** Resolves when nothing of the run is left on this machine. */
  readonly cleaned: Promise<void>
}

export interface FollowParts {
  readonly job: Job
  readonly context: Pick<RunContext, 'machine' | 'clock'>
  readonly place: Place
  /** The mechanisms that enforce its limits. */
  readonly held: LimitPlan
  /** See `Counted`. */
  readonly cpuMsBefore?: number
  /** Called when the guest executes. */
  readonly onStarted?: () => void
}

export const buildMs = 10_000
/** An older run yields processor time to younger ones. */
const yieldAfterMs = 1000

export function tooLong(): LazaretError {
  return new LazaretError('CELL_FAILED', { detail: `The cell was not ready after ${buildMs} ms.` })
}

/**
 * `start` sends the frames that begin the run. The cell reads them when it is built. Always ends the cell. Throws if the
 * cell could not be built or was lost; a guest's misbehaviour is part of the evidence.
 */
export async function followRun(
  built: BuiltCell,
  parts: FollowParts,
  start: (run: Run) => void,
): Promise<RunEnd> {
  const { job, held, cpuMsBefore = 0, onStarted } = parts
  const { clock } = parts.context
  const { cell, ground, plan } = built
  let run: Run | undefined
  try {
    run = new Run(cell, { ...job, clock, ground, plan, held, cpuMsBefore })
    if (!run.isCancelled) start(run)
    const patience = clock.after(buildMs, () => run?.fail(tooLong()))
    await run.started.finally(patience)
    onStarted?.()
    const yielding = clock.after(yieldAfterMs, () => yieldProcessors(built))
    const exit = await run.ended.finally(yielding)
    // The program has ended, so its connections end, too, even if it left processes behind. Then the counts are final.
    await built.door?.close()
    const collected = await collect(built, exit, parts)
    // The caller gets the result without waiting for the end of the cell.
    const cleaned = built.clean()
    cleaned.catch(() => undefined) // the caller gets the rejection later; until then it must not be unhandled
    const output = await run.output()
    return { exit: { ...exit, ...output, network: built.door?.report }, collected, cleaned }
  } catch (error) {
    // If cleaning up also fails, the first error is the important one. The next start of Lazaret removes the rest.
    await built.clean().catch(() => undefined)
    throw error
  }
}

/** Only speeds up other runs. If it fails, the run continues unchanged. */
function yieldProcessors({ ground }: BuiltCell): void {
  try {
    ground.cgroup?.yieldProcessors()
  } catch {
    // The kernel refuses, or the cell is ending.
  }
}

/** Collects files, unless the run was cancelled or the cell is lost, that is, the end of its main process is unknown. */
async function collect(
  { cell, plan }: BuiltCell,
  exit: Pick<Exit, 'end' | 'killReason'>,
  { job, context, place }: FollowParts,
): Promise<CollectedFiles> {
  const { spec, handles, limits, outputRoom: room } = job
  if (spec.collect === undefined || spec.collect.length === 0) return noFiles
  if (exit.end === null || exit.killReason === 'cancelled') return lostFiles
  const ground = { workspace: place.workspace, promises: plan.promises }
  return await collectFiles(cell, spec.collect, { ...context, limits, ground, room, signal: handles.signal })
}
