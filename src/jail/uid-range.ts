/**
 * The host ids of cells: two for each cell, that no other live cell has. A host process claims blocks of them by
 * binding an abstract socket named after the block: claiming is atomic across processes, and the kernel releases
 * the name when the process ends, however it ends.
 * Source: unix(7), "Abstract sockets".
 */
import { createServer } from 'node:net'
import type { Server } from 'node:net'

import { LazaretError } from '../core/errors.ts'

export interface UidRange {
  /** First host id that cells may use. Default 2 000 000 000, above what distributions hand out. */
  readonly first: number
  /** How many. Default 65 536: 32 768 cells at one time on the machine. */
  readonly count: number
}

export const defaultUidRange: UidRange = { first: 2_000_000_000, count: 65_536 }

const idsPerCell = 2
const cellsPerBlock = 128
const idsPerBlock = idsPerCell * cellsPerBlock

/** Hands out the first id of a cell's pair. */
export class UidAllocator {
  readonly #range: UidRange
  readonly #free: number[] = []
  readonly #claims: Server[] = []
  #nextBlock = 0
  #claiming: Promise<void> | undefined

  constructor(range: UidRange) {
    this.#range = range
  }

  async take(): Promise<number> {
    while (this.#free.length === 0) {
      this.#claiming ??= this.#claimBlock().finally(() => (this.#claiming = undefined))
      await this.#claiming
    }
    return this.#free.shift() as number
  }

  /** Last in, last out: an id rests as long as possible before its next cell. */
  giveBack(firstId: number): void {
    this.#free.push(firstId)
  }

  async #claimBlock(): Promise<void> {
    const blocks = Math.floor(this.#range.count / idsPerBlock)
    for (; this.#nextBlock < blocks; this.#nextBlock++) {
      const first = this.#range.first + this.#nextBlock * idsPerBlock
      const claim = await claimName(`\0lazaret-ids-${first}`)
      if (claim === undefined) continue
      this.#claims.push(claim)
      for (let cell = 0; cell < cellsPerBlock; cell++) this.#free.push(first + cell * idsPerCell)
      this.#nextBlock++
      return
    }
    throw new LazaretError('JAIL_UNAVAILABLE', {
      detail: `All ${this.#range.count} ids of the uid range are taken by other cells.`,
      hint: 'Give a larger `uidRange`.',
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#claims.map((claim) => new Promise((closed) => claim.close(closed))))
  }
}

function claimName(name: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.unref()
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(undefined) : reject(error),
    )
    server.listen(name, () => resolve(server))
  })
}
