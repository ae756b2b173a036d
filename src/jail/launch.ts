/** Starts the launcher, and says what its failures mean. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { getSystemErrorMap } from 'node:util'

import { LazaretError } from '../core/errors.ts'
import { Cell } from './cell.ts'
import type { StepFailure } from './cell.ts'
import { adviseOn } from './advice.ts'
import { requireLauncher } from './launcher-path.ts'
import type { CellPlan } from './plan.ts'
import { describeRecord } from './plan-records.ts'

/** The launcher waits for its plan. Throws JAIL_UNAVAILABLE when there is none to start. */
export function startLauncher({ hasChannel }: { hasChannel: boolean }): Cell {
  let stub: ChildProcess
  try {
    stub = spawn(requireLauncher(), [], {
      argv0: 'cell', // guests see it in /proc/1/cmdline; the path is the host's
      stdio: ['ignore', 'pipe', 'ignore', 'pipe', hasChannel ? 'pipe' : 'ignore'],
      env: {},
      cwd: '/',
    })
  } catch (cause) {
    if (cause instanceof LazaretError) throw cause
    throw new LazaretError('CELL_FAILED', { detail: 'The launcher could not be started.', cause })
  }
  // Without descriptors or memory Node answers with half an object and tells the reason a tick later.
  stub.once('error', () => undefined)
  if (stub.pid === undefined) {
    throw new LazaretError('CELL_FAILED', {
      detail: 'The launcher could not be started: this process is out of descriptors, processes or memory.',
    })
  }
  return new Cell(stub, { hasChannel })
}

/** What a failed step means to the caller. */
export function explainFailure(failure: StepFailure, plan: CellPlan): LazaretError {
  const record = failure.record === null ? undefined : plan.records[failure.record]
  const [name, meaning] = getSystemErrorMap().get(-failure.errno) ?? [
    `errno ${failure.errno}`,
    'unknown error',
  ]
  const place = record === undefined ? '' : ` (${describeRecord(record)})`
  const hint = adviseOn(record?.do ?? null, failure.step, name)
  return new LazaretError(hint === undefined ? 'CELL_FAILED' : 'JAIL_UNAVAILABLE', {
    detail: `Step "${failure.step}"${place} failed: ${name}, ${meaning}.`,
    ...(hint === undefined ? {} : { hint }),
  })
}
