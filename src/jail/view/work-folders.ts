/**
 * The folders of runs on the host's disk (level `restricted`): one for this host process, with one inside for each run.
 * The launcher makes and removes the inner ones, even when this process is gone. The next host process removes what
 * both left.
 */
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  rmdirSync,
} from 'node:fs'
import { tmpdir } from 'node:os'

import { LazaretError } from '../../core/errors/errors.ts'
import { isLeftBehind, nameOfThisHost } from '../machine/host-identity.ts'
import { Cell } from '../cell/cell.ts'
import { spawnLauncher } from '../launch/launcher.ts'
import { encodePlan } from '../plan/plan-records.ts'
import type { PlanRecord } from '../plan/plan-records.ts'
import type { UidAllocator } from '../machine/uid-range.ts'

/** A launcher that removes files may take this long. What it has left is for the next one. */
const removeMs = 60_000

export class WorkFolders {
  #own: string | undefined
  #runs = 0

  /** A path for one more run. Throws JAIL_UNAVAILABLE if no folder can be created. */
  next(): string {
    this.#own ??= makeOwnFolder()
    return `${this.#own}/run-${++this.#runs}`
  }

  /**
   * Removes what dead hosts left behind, and returns for how many hosts it removed everything. Never throws: the next
   * start tries again.
   */
  async sweep(ids: UidAllocator): Promise<number> {
    let swept = 0
    const temporary = tmpdir()
    for (const name of listFolder(temporary).filter(isLeftBehind)) {
      const folder = `${temporary}/${name}`
      const uid = ownerOf(folder)
      if (uid === undefined || uid !== process.geteuid?.()) continue // a folder of another user with such a name
      for (const run of listFolder(folder)) await sweepRun(`${folder}/${run}`, ids)
      removeEmpty(folder)
      if (!existsSync(folder)) swept++
    }
    return swept
  }

  /** Throws if a run has left something in it; a second call tries again. */
  [Symbol.dispose](): void {
    const own = this.#own
    if (own === undefined) return
    removeEmpty(own)
    if (existsSync(own)) throw new Error(`${own} is not empty.`)
    this.#own = undefined
  }
}

function makeOwnFolder(): string {
  try {
    const path = `${realpathSync(tmpdir())}/${nameOfThisHost()}`
    mkdirSync(path, { mode: 0o711 })
    // Guests with their own ids have to pass through it, whatever the umask is, but need not list it.
    const folder = openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW)
    fchmodSync(folder, 0o711)
    closeSync(folder)
    return path
  } catch (cause) {
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: `Without namespaces each run needs a folder on the host's disk. ${(cause as Error).message}.`,
      hint: 'Set TMPDIR to a folder that this user may write to and every user may enter.',
      cause,
    })
  }
}

/**
 * Where guests have their own ids, the folder stays until this host alone has them: it is what shows which guests are
 * still to be ended. A live host that has the ids took them while no process had them, or is ending these guests.
 */
async function sweepRun(path: string, ids: UidAllocator): Promise<void> {
  const uid = ownerOf(path)
  if (uid === undefined) return
  if (uid === process.geteuid?.()) return removeRun(path, { endsGuests: false })
  const giveBack = await ids.reserve(uid)
  if (giveBack === undefined) return
  try {
    await removeRun(path, { endsGuests: true })
  } finally {
    await giveBack()
  }
}

/**
 * Removes what a launcher could not remove itself because it failed or was killed. Never throws. `endsGuests` when ids
 * that are not the service's own belong to this run alone: whatever is still alive with them is ended first.
 */
export async function removeRun(
  path: string,
  { endsGuests }: { readonly endsGuests: boolean },
): Promise<void> {
  removeEmpty(path)
  const uid = ownerOf(path)
  if (uid === undefined) return
  // By a launcher, because guests' trees may be deeper than the longest path, and guests may still be alive.
  const guest = uid + 1
  const records: PlanRecord[] = [
    ...(uid === process.geteuid?.() ? [] : [{ do: 'guest-ids', uid: guest, gid: guest } as const]),
    { do: 'remove', path, endsGuests },
  ]
  try {
    const launcher = new Cell(spawnLauncher(false))
    launcher.ready.catch(() => undefined)
    launcher.sendPlan(encodePlan(records), removeMs)
    await launcher.gone
  } catch {
    return // Without a launcher nothing can be removed.
  }
  // A launcher with its own ids may not remove the folder from our parent folder.
  removeEmpty(path)
}

function listFolder(path: string): string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function ownerOf(path: string): number | undefined {
  const facts = lstatSync(path, { throwIfNoEntry: false })
  return facts?.isDirectory() === true ? facts.uid : undefined
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch {
    // Not empty yet, or gone already.
  }
}
