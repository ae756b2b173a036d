/**
 * Tries the best wall first and, if the machine refuses a part of it, the next one. If a wall is refused, nothing has
 * run, so it is safe to try again. A wall that the machine has refused once is not tried again.
 */
import { isAtLeast } from '../../core/protection.ts'
import type { ProtectionLevel } from '../../core/protection.ts'
import { LazaretError, errorTable } from '../../core/errors/errors.ts'
import { ViewRefused, WallRefused } from '../launch/launch.ts'
import type { Machine } from './machine.ts'
import type { Place } from '../plan/place.ts'
import type { Wall } from '../plan/shape.ts'

export interface BestWall {
  readonly machine: Machine
  /** The weakest level that is tried; if it is refused too, the caller gets the refusal. */
  readonly minimum: ProtectionLevel
  /** Called once for each wall that the machine turns out not to support. */
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
      if (level !== null && !isAtLeast(level, minimum))
        throw belowMinimum({ level, minimum, refusals: [...machine.refusals, error] })
      if (level === null) throw error
      if (await machine.giveUp(error)) onRefusal(error)
    }
  }
}

export interface BelowMinimum {
  /** The best level that has not been refused; whether it can be reached is not known before a cell is built there. */
  readonly level: ProtectionLevel
  readonly minimum: ProtectionLevel
  /** The refused walls, the best one first, as far as they are known. */
  readonly refusals: readonly LazaretError[]
}

/** Says how to raise the level, and how to accept the present one. */
export function belowMinimum({ level, minimum, refusals }: BelowMinimum): LazaretError {
  const accept =
    level === 'none'
      ? ''
      : ` To accept the lower level, if \`lazaret doctor\` reaches it, name it: \`minimumProtection: '${level}'\`, or \`--minimum ${level}\`.`
  const hints = refusals.map(({ hint }) => hint)
  const raise =
    hints.length > 0 ? hints.join('\n') : 'Run `lazaret doctor` for the missing layer and its fix.'
  const { message } = errorTable.JAIL_UNAVAILABLE
  const reasons = refusals.map((refusal) => refusal.message.replace(message, '')).join('')
  const [cause] = refusals
  return new LazaretError('JAIL_UNAVAILABLE', {
    detail: `This machine reaches level ${level} at most; ${minimum} is required.${reasons}`,
    hint: `${raise}${accept}`,
    ...(cause === undefined ? {} : { cause }),
  })
}

/** One more refusal than there are folders to make views of. */
const refusalsMax = 200

/** Folders whose view the kernel refuses are shown as they are; each refusal is remembered, so there are few. */
export async function withPossibleViews<T>(machine: Machine, attempt: () => Promise<T>): Promise<T> {
  for (let refusals = 0; ; refusals++) {
    try {
      return await attempt()
    } catch (error) {
      // If another cell has found out in the meantime, another try is worthwhile too.
      if (!(error instanceof ViewRefused) || refusals === refusalsMax) throw error
      machine.giveUpView(error)
    }
  }
}
