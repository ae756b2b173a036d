/** A limit that nothing can enforce is refused, unless the operator has named it as one that may go unenforced. */
import { LazaretError } from '../core/errors/errors.ts'
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
    throw new LazaretError('LIMIT_UNENFORCEABLE', { detail: `Unenforceable: ${unheld.join(', ')}.` })
}
