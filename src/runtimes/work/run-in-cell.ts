/** One program, once, in a fresh cell: launch, watch, end, collect the evidence. */
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
 * `place` is where the program was prepared to find things. Throws when the cell could not be built or was lost; a
 * guest that misbehaves is in the evidence.
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
    // Sends everything at once; the cell reads it when it is built.
    for (const { path, bytes, mode } of program.files) cell.put(path, bytes, mode)
    const start = startSpec({ program, spec, held }, on)
    const id = cell.spawn(start, run, (failure) => run.fail(explainFailure(failure, built.plan)))
    run.onMain((exitCode) => cell.finish(id, exitCode))
    if (program.guestRequest !== undefined) cell.channel?.write(encodeGuestRequest(program.guestRequest))
  })
}

/** Those of the request win: a guest may have its own idea of whom to trust. */
const withVariables = (program: Program, variables: Program['env'] = {}): Program => ({
  ...program,
  env: { ...variables, ...program.env },
})
