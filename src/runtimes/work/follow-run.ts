/** Follows a run from the start of its guest, of whatever kind, to the evidence. */
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
  /** What the cell's cgroup had counted before. */
  readonly cpuMsBefore?: number
  /** Called when the guest executes. */
  readonly onStarted?: () => void
}

export const buildMs = 10_000
/** A run older than this gives way to younger ones. */
const yieldAfterMs = 1000

export function tooLong(): LazaretError {
  return new LazaretError('CELL_FAILED', { detail: `The cell was not ready after ${buildMs} ms.` })
}

/**
 * `start` sends the frames that begin the run; they wait until the cell is built. The cell is ended in any case. Throws
 * if the cell could not be built or was lost; a guest's misbehaviour is in the evidence.
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
    // Its program has ended, so its connections do, whatever processes it left behind; then all of it has been counted.
    await built.door?.close()
    const collected = await collect(built, exit, parts)
    // Answer first; the end of the cell is not waited for.
    const cleaned = built.clean()
    cleaned.catch(() => undefined) // callers that await the end get the rejection; before that nobody handles it
    await run.delivered()
    return { exit: { ...exit, network: built.door?.report }, collected, cleaned }
  } catch (error) {
    // Should cleaning up fail too, the first reason is the one to know; the next start sweeps the rest.
    await built.clean().catch(() => undefined)
    throw error
  }
}

/** This only speeds up other runs: if it fails, the run continues unchanged. */
function yieldProcessors({ ground }: BuiltCell): void {
  try {
    ground.cgroup?.yieldProcessors()
  } catch {
    // The kernel says no, or the cell is ending.
  }
}

/** Only a cell whose main process was seen to end is still there; a cancelled run collects no files. */
async function collect(
  { cell, plan }: BuiltCell,
  exit: Exit,
  { job, context, place }: FollowParts,
): Promise<CollectedFiles> {
  const { spec, handles, limits } = job
  if (spec.collect === undefined || spec.collect.length === 0) return noFiles
  if (exit.end === null || exit.killReason === 'cancelled') return lostFiles
  const ground = { workspace: place.workspace, promises: plan.promises }
  return await collectFiles(cell, spec.collect, { ...context, limits, ground, signal: handles.signal })
}
