/**
 * Which files of the host a cell's launcher asks the kernel to cache, so that the cell's memory limit does not cover
 * them: Lazaret's own programs. native/cell/build/cgroups.c explains how.
 */
import type { PlanRecord } from '../plan/plan-records.ts'
import type { CellGround, CellShape } from '../plan/shape.ts'

/** Operators cannot show files in it. */
const ownFolder = '/opt/lazaret/'

/** Cached pages may be reclaimed at any time, but not often. */
const cellsPerLook = 256

export class ReadAhead {
  readonly #looked = new Set<string>()
  #cells = 0

  /** The files of one more cell at which no recent cell's launcher has looked. */
  next({ binds }: CellShape): string[] {
    if (this.#cells++ % cellsPerLook === 0) this.#looked.clear()
    const own = binds.flatMap(({ host, guest }) => (guest.startsWith(ownFolder) ? [host] : []))
    const due = own.filter((path) => !this.#looked.has(path))
    for (const path of due) this.#looked.add(path)
    return due
  }
}

export function planReadAhead({ readAhead = [], memoryHeldByCgroup }: CellGround): PlanRecord[] {
  return memoryHeldByCgroup ? readAhead.map((path) => ({ do: 'read-ahead', path })) : []
}
