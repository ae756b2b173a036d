/**
 * The kernel's locks on a file that this process has open. A lock ends when the file is closed, by us or with this
 * process.
 * Stops: two processes from using the same thing. Does not stop: processes that do not ask for the lock.
 * Source: fcntl(2), "Open file description locks"; what sets them is native/cell/build/claims.c, because Node cannot.
 */
import { constants } from 'node:os'

import { Cell } from '../cell/cell.ts'
import { isStepFailure } from '../cell/cell-reports.ts'
import { spawnClaimant } from '../launch/launcher.ts'
import type { Blocks } from '../plan/claim-record.ts'
import { encodePlan } from '../plan/plan-records.ts'

/** Locks the first free block of several; undefined if all are taken. Throws a step's failure. */
export async function lockFirst(file: number, blocks: Blocks): Promise<number | undefined> {
  const claimant = new Cell(spawnClaimant(file))
  claimant.sendPlan(encodePlan([{ do: 'claim-ids', ...blocks }]))
  try {
    return Number((await claimant.ready)['block'])
  } catch (error) {
    if (isStepFailure(error) && error.errno === constants.errno.EAGAIN) return undefined
    throw error
  } finally {
    await claimant.gone
  }
}

/** Locks the whole file against other callers of this function. False if another process has the lock. */
export async function lockFile(file: number): Promise<boolean> {
  try {
    return (await lockFirst(file, { first: 0, ids: 1, count: 1, mustBeIdle: false })) !== undefined
  } catch (error) {
    if (!isStepFailure(error)) throw error
    throw new Error(`It cannot be locked: error ${error.errno}.`, { cause: error })
  }
}
