/** One program, once, in a fresh cell: launch, watch, end, collect the evidence. */
import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import { buildCell } from '../jail/build-cell.ts'
import type { BuiltCell } from '../jail/build-cell.ts'
import type { Cell } from '../jail/cell.ts'
import { explainFailure } from '../jail/launch.ts'
import type { Machine } from '../jail/machine.ts'
import { planRlimits } from '../jail/rlimits.ts'
import type { Place } from '../jail/place.ts'
import type { Bind } from '../jail/shape.ts'
import type { Exit } from '../result/exit.ts'
import { collectFiles, lostFiles, noFiles } from './collect/collect-files.ts'
import type { CollectedFiles } from './collect/collect-files.ts'
import type { CollectGround } from './collect/run-collector.ts'
import { encodeGuestRequest } from './channel.ts'
import { Run } from './run.ts'
import type { Program } from './runtime.ts'

export interface RunContext {
  readonly machine: Machine
  readonly clock: Clock
  readonly limits: Limits
  /** Where the program was prepared to find things. */
  readonly place: Place
  /** The operator's read-only folders. */
  readonly readable: readonly Bind[]
}

export interface RunEnd {
  readonly exit: Exit
  readonly cgroupVersion: 1 | 2 | null
  readonly collected: CollectedFiles
  /** Resolves when nothing of the run is left on this machine. */
  readonly cleaned: Promise<void>
}

const buildMs = 10_000

/** Throws when the cell could not be built or was lost; a guest that misbehaves is in the evidence. */
export async function runInCell(program: Program, request: RunRequest, context: RunContext): Promise<RunEnd> {
  const { machine, clock, limits, place, readable } = context
  const shape = {
    binds: [...program.binds, ...readable],
    network: request.network ?? 'none',
    place,
    diskBytes: limits.diskBytes,
  } as const
  const built = await buildCell(
    { shape, limits, hasChannel: program.guestRequest !== undefined },
    machine,
    clock,
  )
  const { cell, ground, plan } = built
  try {
    const run = new Run(cell, { request, limits, clock, ground, plan })
    if (!run.isCancelled) start(program, { request, limits, machine, place, built, run })
    const tooLong = new LazaretError('CELL_FAILED', { detail: `The cell did not stand after ${buildMs} ms.` })
    const patience = clock.after(buildMs, () => run.fail(tooLong))
    await run.started.finally(patience)
    const exit = await run.ended
    const collected = await collect(cell, exit, {
      request,
      limits,
      clock,
      ground: { workspace: place.workspace, promises: plan.promises },
    })
    // Answer first; the end of the cell is not waited for.
    const cleaned = built.clean()
    cleaned.catch(() => undefined) // who gets the end looks at it; until then nobody does
    await run.delivered()
    return { exit, cgroupVersion: machine.cgroupVersion, collected, cleaned }
  } catch (error) {
    // Should cleaning up fail too, the first reason is the one to know; the next start sweeps the rest.
    await built.clean().catch(() => undefined)
    throw error
  }
}

interface CollectContext {
  readonly request: RunRequest
  readonly limits: Limits
  readonly clock: Clock
  readonly ground: CollectGround
}

/** Only a cell whose main process was seen to end still stands; who cancelled a run wants nothing of it. */
async function collect(
  cell: Cell,
  exit: Exit,
  { request, limits, clock, ground }: CollectContext,
): Promise<CollectedFiles> {
  if (request.collect === undefined || request.collect.length === 0) return noFiles
  if (exit.end === null || exit.killReason === 'cancelled') return lostFiles
  return await collectFiles(cell, request.collect, { ground, limits, clock, signal: request.signal })
}

interface StartContext {
  readonly request: RunRequest
  readonly limits: Limits
  readonly machine: Machine
  readonly place: Place
  readonly built: BuiltCell
  readonly run: Run
}

/** Sends everything at once: the cell reads it when it stands. */
function start(program: Program, { request, limits, machine, place, built, run }: StartContext): void {
  const { cell, ground } = built
  for (const { path, bytes, mode } of program.files) cell.put(path, bytes, mode)
  const heldByCgroup = ground.cgroup !== null
  const rlimits = planRlimits(limits, {
    identity: ground.identity.kind,
    isPid1Counted: place.work === null,
    memoryHeldByCgroup: heldByCgroup,
    runtimeDataBytes: program.baseDataBytes,
    openFilesHard: machine.openFilesHard,
  })
  const stdin = typeof request.stdin === 'string' ? Buffer.from(request.stdin) : request.stdin
  const spec = {
    file: program.file,
    argv: program.argv,
    env: program.env,
    folder: place.workspace,
    rlimits,
    ...(stdin === undefined ? {} : { stdin }),
    hasChannel: program.guestRequest !== undefined,
    outputBytes: limits.outputBytes,
    wallMs: limits.wallMs,
    watched: heldByCgroup
      ? { memoryBytes: null, cpuMs: null, socketBytes: limits.memoryBytes }
      : { memoryBytes: limits.memoryBytes, cpuMs: limits.cpuMs, socketBytes: null },
  }
  cell.spawn(spec, run, (failure) => run.fail(explainFailure(failure, run.plan)))
  if (program.guestRequest !== undefined) cell.channel?.write(encodeGuestRequest(program.guestRequest))
}
