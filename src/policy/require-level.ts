/** A machine below the operator's minimum level runs nothing. */
import { isAtLeast } from '../core/protection.ts'
import { belowMinimum } from '../jail/machine/best-wall.ts'
import type { BestWall } from '../jail/machine/best-wall.ts'

/** Throws JAIL_UNAVAILABLE, with the fix if one is known. */
export function requireLevel({ machine, minimum }: BestWall): void {
  if (isAtLeast(machine.level, minimum)) return
  throw belowMinimum({ level: machine.level, minimum, refusals: machine.refusals })
}
