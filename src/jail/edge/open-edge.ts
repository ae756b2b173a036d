/** The edge of a run or a sandbox, if its network is a policy. */
import type { Clock } from '../../core/clock.ts'
import type { Network } from '../../core/network.ts'
import type { Machine } from '../machine/machine.ts'
import { Edge } from './edge.ts'

interface EdgePlace {
  readonly machine: Pick<Machine, 'relays'>
  readonly clock: Clock
}

/** Throws INVALID_REQUEST. */
export function openEdge(network: Network | undefined, { machine, clock }: EdgePlace): Edge | undefined {
  if (network === undefined || typeof network === 'string') return undefined
  return new Edge(network, { clock, lookups: machine.relays.lookups })
}
