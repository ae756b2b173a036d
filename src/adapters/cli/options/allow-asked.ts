/**
 * The person at the terminal is the operator, so a flag is the operator's own request: it is allowed. A configuration
 * that names the networks is obeyed.
 */
import type { Network } from '../../../core/network.ts'
import { networkKindOf } from '../../../jail/edge/rules.ts'
import type { LazaretOptions } from '../../../engine/options/options.ts'

export function allowAsked(options: LazaretOptions, network: Network = 'none'): LazaretOptions {
  return { ...options, access: { networks: [networkKindOf(network)], ...options.access } }
}
