/**
 * Tries the best wall first and, if the machine refuses a part of it, the next one. A refused wall has run nothing, so it
 * is safe to try again. What a machine has refused once is not asked of it again.
 */
import { isAtLeast } from '../core/protection.ts'
import type { ProtectionLevel } from '../core/protection.ts'
import { ViewRefused, WallRefused } from './launch.ts'
import type { Machine } from './machine.ts'
import type { Place } from './place.ts'
import type { Wall } from './shape.ts'

export interface BestWall {
  readonly machine: Machine
  /** Below it nothing is tried, and the refusal is the caller's to see. */
  readonly minimum: ProtectionLevel
  /** Called once a wall, when the machine turns out not to have it. */
  readonly onRefusal: (refusal: WallRefused) => void
}

/** The level that remains when a wall has been refused. */
const levelWithout: Readonly<Record<Wall, ProtectionLevel | null>> = {
  namespaces: 'restricted',
  landlock: 'none',
  none: null,
}

export async function behindBestWall<T>(
  { machine, minimum, onRefusal }: BestWall,
  attempt: (place: Place) => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await withPossibleViews(machine, async () => attempt(machine.choosePlace()))
    } catch (error) {
      if (!(error instanceof WallRefused)) throw error
      const level = levelWithout[error.wall]
      if (level === null || !isAtLeast(level, minimum)) throw error
      if (await machine.giveUp(error)) onRefusal(error)
    }
  }
}

/** One more refusal than there are folders to make views of. */
const refusalsMax = 200

/** Folders whose view the kernel refuses are shown as they are; each refusal is remembered, so there are few. */
export async function withPossibleViews<T>(machine: Machine, attempt: () => Promise<T>): Promise<T> {
  for (let refusals = 0; ; refusals++) {
    try {
      return await attempt()
    } catch (error) {
      // What somebody else has found out meanwhile is worth another try as well.
      if (!(error instanceof ViewRefused) || refusals === refusalsMax) throw error
      machine.giveUpView(error)
    }
  }
}
