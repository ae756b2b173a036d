/** Runs one program in a fresh cell: builds the cell, starts the program, and follows the run. */
import { networkModeOf } from '../../core/network.ts'
import { buildCell } from '../../jail/cell/build-cell.ts'
import { openEdge } from '../../jail/edge/open-edge.ts'
import { explainFailure } from '../../jail/launch/launch.ts'
import type { Place } from '../../jail/plan/place.ts'
import { encodeGuestRequest } from '../channel/message-frame.ts'
import type { Program } from '../runtime.ts'
import { followRun } from './follow-run.ts'
import type { RunContext, RunEnd } from './follow-run.ts'
import { holdLimits, startSpec } from './guest-start.ts'
import type { Task } from './guest-start.ts'

/**
 * `place` is the file view for which the program was prepared. Throws if the cell could not be built or was lost; a guest's
 * misbehaviour is part of the evidence.
 */
export async function runInCell(
  task: Task,
  context: RunContext & { readonly place: Place; readonly onStarted?: () => void },
): Promise<RunEnd> {
  const { spec, limits, handles } = task
  const { keyring, certificates } = handles.secrets ?? {}
  const program = withVariables(task.program, certificates?.variables)
  const { machine, clock, place, readable, onStarted } = context
  const shape = {
    binds: [...program.binds, ...readable],
    network: networkModeOf(spec.network),
    place,
    diskBytes: limits.diskBytes,
    ...(certificates && { files: certificates.files }),
  } as const
  const hasChannel = program.guestRequest !== undefined
  const edge = openEdge(spec.network, { machine, clock, keyring })
  const built = await buildCell({ shape, limits, hasChannel, edge }, machine, clock)
  const { cell, ground } = built
  const on = { machine, ground, place }
  const held = holdLimits(program, limits, on)
  return followRun(built, { job: task, context, place, held, ...(onStarted && { onStarted }) }, (run) => {
    // Sends everything now. The cell reads it when it is built.
    for (const { path, bytes, mode } of program.files) cell.put(path, bytes, mode)
    const start = startSpec({ program, spec, held }, on)
    const id = cell.spawn(start, run, (failure) => run.fail(explainFailure(failure, built.plan)))
    run.onMain((exitCode) => cell.finish(id, exitCode))
    if (program.guestRequest !== undefined) cell.channel?.write(encodeGuestRequest(program.guestRequest))
  })
}

/** The request's own variables take precedence: it may choose other certificates to trust. */
const withVariables = (program: Program, variables: Program['env'] = {}): Program => ({
  ...program,
  env: { ...variables, ...program.env },
})
