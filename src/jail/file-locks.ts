/**
 * Locks on an open file of ours that the kernel keeps: one ends when the file is closed, by us or with this process.
 * Stops: two processes that both believe a thing to be theirs. Does not stop: whoever does not ask for the lock.
 * Source: fcntl(2), "Open file description locks"; what sets them is native/cell/build/claims.c, because Node cannot.
 */
import { constants } from 'node:os'

import { Cell } from './cell.ts'
import { isStepFailure } from './cell-reports.ts'
import { spawnClaimant } from './launcher.ts'
import { encodePlan } from './plan-records.ts'

/** Ranges of bytes of the file, in a row. */
export interface Blocks {
  readonly first: number
  readonly ids: number
  readonly count: number
}

/** Locks the first of some blocks that nobody has; undefined when each is somebody's. Throws a step's failure. */
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

/** Locks the file as a whole, among all who lock it like this. False when somebody else has. */
export async function lockFile(file: number): Promise<boolean> {
  try {
    return (await lockFirst(file, { first: 0, ids: 1, count: 1 })) !== undefined
  } catch (error) {
    if (!isStepFailure(error)) throw error
    throw new Error(`It cannot be locked: error ${error.errno}.`, { cause: error })
  }
}
