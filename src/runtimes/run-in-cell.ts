/** One program, once, in a fresh cell: launch, watch, end, collect the evidence. */
import { statSync } from 'node:fs'

import type { Clock } from '../core/clock.ts'
import { LazaretError } from '../core/errors.ts'
import type { Limits } from '../core/limits.ts'
import type { RunRequest } from '../core/request.ts'
import type { Cell } from '../jail/cell.ts'
import { explainFailure, launchCell } from '../jail/launch.ts'
import type { LeasedGround, Machine } from '../jail/machine.ts'
import { planCell } from '../jail/plan.ts'
import { planRlimits } from '../jail/rlimits.ts'
import type { Bind } from '../jail/shape.ts'
import type { Exit } from '../result/exit.ts'
import { encodeGuestRequest } from './channel.ts'
import { Run } from './run.ts'
import { workspace } from './runtime.ts'
import type { Program } from './runtime.ts'

export interface RunContext {
  readonly machine: Machine
  readonly clock: Clock
  readonly limits: Limits
  /** The operator's read-only folders. */
  readonly readable: readonly Bind[]
}

export interface RunEnd {
  readonly exit: Exit
  readonly heldByCgroup: boolean
  /** Resolves when nothing of the run is left on this machine. */
  readonly cleaned: Promise<void>
}

const buildMs = 10_000

/** Throws when the cell could not be built or was lost; a guest that misbehaves is in the evidence. */
export async function runInCell(program: Program, request: RunRequest, context: RunContext): Promise<RunEnd> {
  const { machine, clock, limits, readable } = context
  const ground = await machine.lease(limits)
  let cell: Cell | undefined
  let cleaned: Promise<void> | undefined
  try {
    const shape = { binds: [...program.binds, ...readable], network: request.network ?? 'none', diskBytes: limits.diskBytes } as const
    const plan = planCell(shape, ground, (path) => !statSync(path).isDirectory())
    cell = launchCell(plan, { hasChannel: program.guestRequest !== undefined })
    const run = new Run(cell, { request, limits, clock, ground, plan })
    cleaned = cleanUp(cell, ground, clock)
    start(cell, program, { request, limits, machine, ground, run })
    const tooLong = new LazaretError('CELL_FAILED', { detail: `The cell did not stand after ${buildMs} ms.` })
    const patience = clock.after(buildMs, () => run.fail(tooLong))
    await run.started.finally(patience)
    const exit = await run.ended
    cell.end()
    return { exit, heldByCgroup: ground.cgroup !== null, cleaned }
  } catch (error) {
    cell?.end()
    if (cleaned === undefined) ground.release()
    else await cleaned
    throw error
  }
}

const removalTries = 20
const removalPauseMs = 25

/** The kernel may need a moment after the last process before it lets a cgroup go. */
async function cleanUp(cell: Cell, ground: LeasedGround, clock: Clock): Promise<void> {
  await cell.gone
  for (let tries = 1; ; tries++) {
    try {
      ground.release()
      return
    } catch (error) {
      if (tries === removalTries) throw error
      await new Promise<void>((resolve) => clock.after(removalPauseMs, resolve))
    }
  }
}

interface StartContext {
  readonly request: RunRequest
  readonly limits: Limits
  readonly machine: Machine
  readonly ground: LeasedGround
  readonly run: Run
}

/** Sends everything at once: the cell reads it when it stands. */
function start(cell: Cell, program: Program, { request, limits, machine, ground, run }: StartContext): void {
  for (const { path, bytes, mode } of program.files) cell.put(path, bytes, mode)
  const heldByCgroup = ground.cgroup !== null
  const rlimits = planRlimits(limits, {
    identity: ground.identity.kind,
    memoryHeldByCgroup: heldByCgroup,
    runtimeDataBytes: program.baseDataBytes,
    openFilesHard: machine.openFilesHard,
  })
  const stdin = typeof request.stdin === 'string' ? Buffer.from(request.stdin) : request.stdin
  const spec = {
    file: program.file,
    argv: program.argv,
    env: program.env,
    folder: workspace,
    rlimits,
    ...(stdin === undefined ? {} : { stdin }),
    hasChannel: program.guestRequest !== undefined,
    outputBytes: limits.outputBytes,
    watched: heldByCgroup ? { memoryBytes: null, cpuMs: null } : { memoryBytes: limits.memoryBytes, cpuMs: limits.cpuMs },
  }
  cell.spawn(spec, run, (failure) => run.fail(explainFailure(failure, run.plan)))
  if (program.guestRequest !== undefined) cell.channel?.write(encodeGuestRequest(program.guestRequest))
}

