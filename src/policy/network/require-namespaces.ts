/** A network policy needs a network namespace; without one nothing could enforce it. */
import type { Network } from '../../core/network.ts'
import type { BestWall } from '../../jail/machine/best-wall.ts'
import { policyUnenforceable } from '../../jail/edge/door.ts'

/** Throws LIMIT_UNENFORCEABLE. */
export function requireNamespaces(network: Network | undefined, { machine }: BestWall): void {
  if (typeof network === 'object' && machine.wall !== 'namespaces') throw policyUnenforceable()
}
