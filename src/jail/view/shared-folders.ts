/** Folders whose own inodes guests get: they must have no sockets, or guests could talk to programs of the host. */
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'
import type { CellPlan } from '../plan/plan.ts'
import type { CellShape } from '../plan/shape.ts'
import { findSocket } from '../machine/socket-search.ts'
import type { SearchFinding } from '../machine/socket-search.ts'

/** Folders that were searched; requests name few. */
const foldersMax = 1000

export class SharedFolders {
  readonly #searched = new Map<string, Promise<void>>()

  /**
   * Searches once each folder that this plan shows without the cell's own view. Throws JAIL_UNAVAILABLE. The system's
   * folders are not searched: only root could have created a socket there.
   */
  async require(shape: CellShape, { records }: CellPlan, clock: Clock): Promise<void> {
    if (shape.binds.length === 0) return
    const named = new Set(shape.binds.map(({ guest }) => guest.slice(1)))
    const slots = new Set(
      records.flatMap((record) => (record.do === 'bind' && named.has(record.path) ? [record.slot] : [])),
    )
    for (const record of records) {
      if (record.do === 'open-tree' && slots.has(record.slot)) await this.#search(record.path, clock)
    }
  }

  /** A refused folder is searched again, because the operator may have fixed it. */
  #search(folder: string, clock: Clock): Promise<void> {
    const known = this.#searched.get(folder)
    if (known !== undefined) return known
    if (this.#searched.size >= foldersMax) this.#searched.clear()
    const search = requireNoSocket(folder, clock)
    this.#searched.set(folder, search)
    search.catch(() => this.#searched.delete(folder))
    return search
  }
}

async function requireNoSocket(folder: string, clock: Clock): Promise<void> {
  const finding = await findSocket(folder, clock)
  if (finding === undefined) return
  throw new LazaretError('JAIL_UNAVAILABLE', {
    detail: `Guests would have the host's own inodes of ${quote(folder)}, and ${describe(finding)}.`,
    hint: 'Show a folder with fewer files and without sockets and named pipes, or run `lazaret doctor` to see why cells cannot have their own view of it.',
  })
}

/** Guests write to the host's own folder on every machine. Throws INVALID_REQUEST. */
export async function requireQuietWorkspace(folder: string, clock: Clock): Promise<void> {
  const finding = await findSocket(folder, clock)
  if (finding === undefined) return
  throw new LazaretError('INVALID_REQUEST', {
    detail: `workspace: ${describe(finding)}.`,
    hint: 'Through it, guests could talk to a program of the host. End that program and remove its sockets and pipes, or give the sandbox another folder.',
  })
}

const describe = ({ path, what }: SearchFinding): string => `${quote(path)} ${what}`

/** Guests may have chosen the name. */
const quote = (path: string): string => JSON.stringify(path)
