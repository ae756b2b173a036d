/** A network that is a policy needs a network namespace: elsewhere nothing would hold it. */
import type { Network } from '../../core/network.ts'
import type { BestWall } from '../../jail/machine/best-wall.ts'
import { policyUnenforceable } from '../../jail/edge/door.ts'

/** Throws LIMIT_UNENFORCEABLE. */
export function requireNamespaces(network: Network | undefined, { machine }: BestWall): void {
  if (typeof network === 'object' && machine.wall !== 'namespaces') throw policyUnenforceable()
}
