/** One program, once, in a fresh cell: launch, watch, end, collect the evidence. */
import type { RunRequest } from '../core/request.ts'
import { buildCell } from '../jail/build-cell.ts'
import { explainFailure } from '../jail/launch.ts'
import type { Place } from '../jail/place.ts'
import { encodeGuestRequest } from './channel.ts'
import { followRun } from './follow-run.ts'
import type { RunContext, RunEnd } from './follow-run.ts'
import { startSpec } from './guest-start.ts'
import type { Program } from './runtime.ts'

/**
 * `place` is where the program was prepared to find things. Throws when the cell could not be built or was lost; a
 * guest that misbehaves is in the evidence.
 */
export async function runInCell(
  program: Program,
  request: RunRequest,
  context: RunContext & { readonly place: Place; readonly onStarted?: () => void },
): Promise<RunEnd> {
  const { machine, clock, limits, place, readable, onStarted } = context
  const shape = {
    binds: [...program.binds, ...readable],
    network: request.network ?? 'none',
    place,
    diskBytes: limits.diskBytes,
  } as const
  const hasChannel = program.guestRequest !== undefined
  const built = await buildCell({ shape, limits, hasChannel }, machine, clock)
  return followRun(built, { request, context, place, ...(onStarted && { onStarted }) }, (run) => {
    // Everything at once: the cell reads it when it stands.
    const { cell, ground } = built
    for (const { path, bytes, mode } of program.files) cell.put(path, bytes, mode)
    const spec = startSpec({ program, request, limits }, { machine, ground, place })
    const id = cell.spawn(spec, run, (failure) => run.fail(explainFailure(failure, built.plan)))
    run.onMain((exitCode) => cell.finish(id, exitCode))
    if (program.guestRequest !== undefined) cell.channel?.write(encodeGuestRequest(program.guestRequest))
  })
}
