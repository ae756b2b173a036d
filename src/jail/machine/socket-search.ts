/**
 * Searches a folder of the host for sockets and named pipes before guests get its inodes: neither a read-only mount nor
 * Landlock keeps a guest from connecting to a daemon that listens there, or from reading a pipe.
 * Stops: talking to programs of the host through sockets and pipes that exist at that time. Does not stop: those that
 * are created later.
 */
import { accessSync, constants, lstatSync, opendirSync, realpathSync } from 'node:fs'
import type { Dir, Dirent, Stats } from 'node:fs'
import { join } from 'node:path'

import { processorMs } from '../../core/clock.ts'
import type { Clock } from '../../core/clock.ts'
import { LazaretError } from '../../core/errors/errors.ts'

/**
 * Beyond these bounds a folder counts as too large. A million entries take 5 s. The time is processor time, because a busy
 * machine must not refuse a folder that it would search on a quiet day.
 */
export const searchBounds = {
  entriesMax: 1_000_000,
  searchMs: 20_000,
  folderNamesMax: 64 * 1024 * 1024,
} as const
export type SearchBounds = Readonly<Record<keyof typeof searchBounds, number>>

/** After this time, other work gets a turn of the event loop. */
const turnMs = 5
/** A folder is read in pieces, however many names it has. */
const namesAtOnce = 256

class TooLarge extends Error {}

/** The reason not to share the folder; undefined if there is none. */
export interface SearchFinding {
  /** The reason as part of a sentence, after the path. */
  readonly what: string
  readonly path: string
}

/** Throws CELL_FAILED on a machine without descriptors. */
export async function findSocket(
  folder: string,
  clock: Clock,
  bounds: SearchBounds = searchBounds,
): Promise<SearchFinding | undefined> {
  const search = new Search(clock, bounds)
  try {
    return await search.run(realpathSync(folder))
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code ?? 'unknown'
    // An error caused by temporary load says nothing about the folder.
    if (reason === 'EMFILE' || reason === 'ENFILE')
      throw new LazaretError('CELL_FAILED', {
        detail: `${folder} could not be looked through: ${reason}.`,
        cause: error,
      })
    const what = error instanceof TooLarge ? error.message : `cannot be looked through (${reason})`
    return { what, path: folder }
  }
}

class Search {
  readonly #clock: Clock
  readonly #bounds: SearchBounds
  #turnBegan: number
  #turnBeganCpuMs = processorMs()
  /** In the turns that have ended. */
  #cpuMs = 0
  #entries = 0
  /** Characters of paths; a guest can make them long. */
  #folderNames = 0

  constructor(clock: Clock, bounds: SearchBounds) {
    this.#clock = clock
    this.#bounds = bounds
    this.#turnBegan = clock.now()
  }

  async run(top: string): Promise<SearchFinding | undefined> {
    const facts = lstatSync(top)
    const what = kindOf(facts)
    if (what !== undefined) return { what, path: top }
    const folders = facts.isDirectory() ? [top] : []
    for (let folder; (folder = folders.pop()) !== undefined;) {
      const names = open(folder)
      try {
        const finding = names && (await this.#look(names, folder, folders))
        if (finding !== undefined) return finding
      } finally {
        names?.closeSync()
      }
    }
    return undefined
  }

  /** Links are not followed: inside a cell they resolve within the cell's view. */
  async #look(names: Dir, folder: string, folders: string[]): Promise<SearchFinding | undefined> {
    for (let entry; (entry = names.readSync()) !== null;) {
      const path = join(folder, entry.name)
      const what = kindOf(entry)
      if (what !== undefined) return { what, path }
      if (entry.isDirectory()) {
        this.#folderNames += path.length
        folders.push(path)
      }
      await this.#count()
    }
    return undefined
  }

  async #count(): Promise<void> {
    const { entriesMax, searchMs, folderNamesMax } = this.#bounds
    if (++this.#entries > entriesMax)
      throw new TooLarge(`has more than ${entriesMax} entries to look through`)
    if (this.#folderNames > folderNamesMax) throw new TooLarge('has too many folders to look through')
    if (this.#clock.now() - this.#turnBegan < turnMs) return
    this.#cpuMs += processorMs() - this.#turnBeganCpuMs
    if (this.#cpuMs > searchMs)
      throw new TooLarge(`takes more than ${searchMs} ms of processor time to look through`)
    await new Promise<void>((resolve) => this.#clock.after(0, resolve))
    this.#turnBegan = this.#clock.now()
    this.#turnBeganCpuMs = processorMs()
  }
}

function kindOf(entry: Dirent | Stats): string | undefined {
  if (entry.isSocket()) return 'is a socket'
  return entry.isFIFO() ? 'is a named pipe' : undefined
}

/** Undefined for a folder that is gone, or that this user may not enter either. */
function open(folder: string): Dir | undefined {
  try {
    return opendirSync(folder, { bufferSize: namesAtOnce })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'EACCES' && process.geteuid?.() !== 0 && !canEnter(folder)) return undefined
    throw error
  }
}

function canEnter(folder: string): boolean {
  try {
    accessSync(folder, constants.X_OK)
    return true
  } catch {
    return false
  }
}
