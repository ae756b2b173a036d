/** Why a process of a sandbox could not be started, if its commands are the reason. */
import { LazaretError } from '../core/errors/errors.ts'
import type { StepFailure } from '../jail/cell/cell-reports.ts'
import { describeErrno, explainFailure } from '../jail/launch/launch.ts'
import type { CellPlan } from '../jail/plan/plan.ts'

/** The step of native/cell/serve/guest.c. Commands own the folder, and may close it to themselves. */
const enterFolder = 'enter the working folder'

export function explainStart(failure: StepFailure, plan: CellPlan): LazaretError {
  if (failure.step !== enterFolder) return explainFailure(failure, plan)
  return new LazaretError('FILE_REFUSED', {
    detail: `/workspace cannot be entered: ${describeErrno(failure.errno)}.`,
    hint: 'A command has changed its mode. Another one can change it back: `chmod 755 /workspace`, with the `cwd` /tmp.',
  })
}
