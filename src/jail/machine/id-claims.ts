/**
 * Claims of host ids, valid for all processes of the machine: locks on one file that only root can open. If claims were
 * names that anybody can take, a guest in the host's network could keep every other host process from getting ids. A
 * claim ends when its descriptor is closed: by us, or by the kernel when this process ends.
 * Does not stop: processes that see different folders here, such as two containers, from claiming the same ids.
 * Source: fcntl(2), "Open file description locks"; what sets them is native/cell/build/claims.c, because Node cannot.
 */
import { closeSync, constants as files, lstatSync, mkdirSync, openSync } from 'node:fs'

import { LazaretError } from '../../core/errors/errors.ts'
import { isStepFailure } from '../cell/cell-reports.ts'
import { lockFirst } from './file-locks.ts'
import type { Blocks } from '../plan/claim-record.ts'

/**
 * The first one that this process can write to. The second is for containers with a read-only root. Both are in memory,
 * and the file has no content.
 */
export const claimFolders: readonly string[] = ['/run/lazaret', '/dev/shm/lazaret']

export interface Claim {
  /** Which of the blocks, from 0. */
  readonly block: number
  release(): void
}

/** How many one launcher may try; CLAIM_BLOCKS_MAX in native/cell/build/claims.c. */
const blocksMax = 4096

/** Claims the first free one of several blocks in a row; undefined if all are taken. */
export async function claimBlock(
  { first, ids, count, mustBeIdle }: Blocks,
  folders: readonly string[],
): Promise<Claim | undefined> {
  for (let from = 0; from < count; from += blocksMax) {
    const file = openClaims(folders)
    const some = { first: first + from * ids, ids, count: Math.min(blocksMax, count - from), mustBeIdle }
    const block = await lockOne(file, some).catch((error: unknown) => {
      closeSync(file)
      throw error
    })
    if (block !== undefined) return { block: from + block, release: () => closeSync(file) }
    closeSync(file)
  }
  return undefined
}

async function lockOne(file: number, blocks: Blocks): Promise<number | undefined> {
  try {
    return await lockFirst(file, blocks)
  } catch (error) {
    if (!isStepFailure(error)) throw error
    throw refuse(`The lock on the host ids of cells failed with error ${error.errno}.`, undefined)
  }
}

/** A new open file each time, so that claims of one process exclude each other as well. */
function openClaims(folders: readonly string[]): number {
  const reasons: Error[] = []
  for (const folder of folders) {
    try {
      makeFolder(folder)
      return openSync(`${folder}/ids`, files.O_RDWR | files.O_CREAT | files.O_NOFOLLOW, 0o600)
    } catch (error) {
      if (error instanceof LazaretError) throw error
      reasons.push(error as Error)
    }
  }
  throw refuse(`${reasons.map(({ message }) => message).join('; ')}.`, reasons[0])
}

/** Makes the folder of the file with the claims. Whoever can change the folder decides who gets ids, so only root may. */
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const facts = lstatSync(path)
  const isOurs = facts.isDirectory() && facts.uid === process.geteuid?.() && (facts.mode & 0o077) === 0
  if (!isOurs) throw refuse(`${path} is not a folder that this user alone can enter.`, undefined)
}

function refuse(detail: string, cause: Error | undefined): LazaretError {
  return new LazaretError('JAIL_UNAVAILABLE', {
    detail: `The host ids of cells cannot be claimed. ${detail}`,
    hint: `Lazaret needs a folder that belongs to root, with mode 0700, at ${claimFolders.join(' or ')}: remove what is there, or make /run writable.`,
    cause,
  })
}
