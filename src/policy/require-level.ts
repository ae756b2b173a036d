/** A machine that does not reach the level that the operator asks for runs nothing. */
import { LazaretError } from '../core/errors.ts'
import { isAtLeast } from '../core/protection.ts'
import type { BestWall } from '../jail/best-wall.ts'

/** Throws JAIL_UNAVAILABLE, with the fix where one is known. */
export function requireLevel({ machine, minimum }: BestWall): void {
  if (isAtLeast(machine.level, minimum)) return
  throw new LazaretError('JAIL_UNAVAILABLE', {
    detail: `This machine reaches level ${machine.level}; ${minimum} is required.`,
    ...(machine.refusal === undefined ? {} : { hint: machine.refusal.hint }),
  })
}
