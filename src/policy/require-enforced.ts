/** A limit that nothing can hold is refused, unless the operator has said by name that it may go unheld. */
import { LazaretError } from '../core/errors.ts'
import type { LimitMechanisms, LimitName, Limits } from '../core/limits.ts'

/** Throws LIMIT_UNENFORCEABLE, naming the limits. */
export function requireEnforced(
  limits: Limits,
  mechanisms: LimitMechanisms,
  allowed: readonly LimitName[],
): void {
  const names = Object.keys(mechanisms) as LimitName[]
  const unheld = names.filter(
    (name) => limits[name] !== null && mechanisms[name] === 'none' && !allowed.includes(name),
  )
  if (unheld.length > 0)
    throw new LazaretError('LIMIT_UNENFORCEABLE', { detail: `It is ${unheld.join(', ')}.` })
}
