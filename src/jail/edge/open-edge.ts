/** Opens the edge of a run or a sandbox that has a network policy. */
import type { Clock } from '../../core/clock.ts'
import type { Network } from '../../core/network.ts'
import type { Machine } from '../machine/machine.ts'
import { Edge } from './edge.ts'
import type { Keyring } from './secrets/keyring.ts'

interface EdgePlace {
  readonly machine: Pick<Machine, 'relays'>
  readonly clock: Clock
  readonly keyring?: Keyring | undefined
}

/** Throws INVALID_REQUEST. */
export function openEdge(
  network: Network | undefined,
  { machine, clock, keyring }: EdgePlace,
): Edge | undefined {
  if (network === undefined || typeof network === 'string') return undefined
  return new Edge(network, { clock, keyring, lookups: machine.relays.lookups })
}
