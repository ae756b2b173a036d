/**
 * The host ids of cells: each cell has two, which no other live cell has. A host process claims blocks of ids
 * (id-claims.ts) and hands out pairs from them. A block is skipped if a process has one of its ids: without namespaces,
 * guests can outlive a host that was killed together with its launchers.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import { claimBlock, claimFolders } from './id-claims.ts'
import type { Claim } from './id-claims.ts'

export interface UidRange {
  /** First host id that cells may use. Default 2 000 000 000, above what distributions hand out. */
  readonly first: number
  /**
   * How many. Default 65 536: 32 768 cells at one time on the machine. Whole blocks of 256 are used, which begin at
   * multiples of 256.
   */
  readonly count: number
}

export const defaultUidRange: UidRange = { first: 2_000_000_000, count: 65_536 }

export const idsPerCell = 2
const cellsPerBlock = 128
const idsPerBlock = idsPerCell * cellsPerBlock

/** Takes a pair of ids, and returns its first one. */
export class UidAllocator {
  readonly #range: UidRange
  readonly #folders: readonly string[]
  readonly #free: number[] = []
  readonly #claims: Claim[] = []
  #nextBlock = 0
  #claiming: Promise<void> | undefined

  /** Claims are valid among processes with the same folders. */
  constructor(range: UidRange, folders = claimFolders) {
    this.#range = range
    this.#folders = folders
  }

  /** Starts to claim ids that will be needed soon. A failure is reported when they are taken. */
  prepare(): void {
    if (this.#free.length === 0) this.#claimMore().catch(() => undefined)
  }

  async take(): Promise<number> {
    while (this.#free.length === 0) {
      await this.#claimMore()
    }
    return this.#free.shift() as number
  }

  /**
   * Takes this many pairs in a row, for a cell with more than one guest, and returns the first id. They are returned
   * one by one.
   */
  async takeRun(cells: number): Promise<number> {
    for (;;) {
      const start = findRun(this.#free, cells)
      if (start !== undefined) {
        for (let cell = 0; cell < cells; cell++)
          this.#free.splice(this.#free.indexOf(start + cell * idsPerCell), 1)
        return start
      }
      await this.#claimMore()
    }
  }

  giveBackRun(firstId: number, cells: number): void {
    for (let cell = 0; cell < cells; cell++) this.giveBack(firstId + cell * idsPerCell)
  }

  /** A queue, so that an id rests as long as possible before its next cell. */
  giveBack(firstId: number): void {
    this.#free.push(firstId)
  }

  /**
   * Ensures that no cell has an id's pair, or gets it until the returned function is called; undefined if one may have
   * it.
   */
  async reserve(firstId: number): Promise<(() => Promise<void>) | undefined> {
    const at = this.#free.indexOf(firstId)
    if (at >= 0) {
      this.#free.splice(at, 1)
      return async () => this.giveBack(firstId)
    }
    const cell = firstId - this.#range.first
    if (cell < 0 || cell >= this.#range.count) return undefined
    const block = { first: firstId - (firstId % idsPerBlock), ids: idsPerBlock, count: 1, mustBeIdle: false }
    const claim = await claimBlock(block, this.#folders)
    return claim && (async () => claim.release())
  }

  /** Only one claim at a time. */
  #claimMore(): Promise<void> {
    return (this.#claiming ??= this.#claimBlock().finally(() => (this.#claiming = undefined)))
  }

  async #claimBlock(): Promise<void> {
    // Blocks begin at multiples of their size, whatever the range: two ranges that overlap claim the same ones.
    const start = Math.ceil(this.#range.first / idsPerBlock) * idsPerBlock
    const blocks = Math.floor((this.#range.first + this.#range.count - start) / idsPerBlock)
    const first = start + this.#nextBlock * idsPerBlock
    const left = { first, ids: idsPerBlock, count: blocks - this.#nextBlock, mustBeIdle: true }
    const claim = await claimBlock(left, this.#folders)
    if (claim !== undefined) {
      this.#claims.push(claim)
      this.#nextBlock += claim.block + 1
      const from = first + claim.block * idsPerBlock
      for (let cell = 0; cell < cellsPerBlock; cell++) this.#free.push(from + cell * idsPerCell)
      return
    }
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: `All ${this.#range.count} ids of the uid range are taken by other cells.`,
      hint: 'Give a larger `uidRange`.',
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#claiming?.catch(() => undefined)
    for (const claim of this.#claims.splice(0)) claim.release()
  }
}

/** A row of pairs never crosses into the next block, which may belong to another host. */
function findRun(free: readonly number[], cells: number): number | undefined {
  let count = 0
  let before = Number.NaN
  for (const id of free.toSorted((a, b) => a - b)) {
    count = id === before + idsPerCell && id % idsPerBlock !== 0 ? count + 1 : 1
    before = id
    if (count === cells) return id - (cells - 1) * idsPerCell
  }
  return undefined
}
