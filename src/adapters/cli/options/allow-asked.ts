/**
 * The person at the terminal is the operator, so the network that a flag asks for is allowed, unless the configuration
 * lists the allowed networks.
 */
import type { Network } from '../../../core/network.ts'
import { networkKindOf } from '../../../jail/edge/rules.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'

export function allowAsked(options: LazaretOptions, network: Network = 'none'): LazaretOptions {
  return { ...options, access: { networks: [networkKindOf(network)], ...options.access } }
}
