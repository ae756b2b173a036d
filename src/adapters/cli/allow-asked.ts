/**
 * The person at the terminal is the operator, and what a flag asks for is asked by them: it is allowed. A configuration
 * that names the networks is obeyed.
 */
import type { NetworkMode } from '../../core/request.ts'
import type { LazaretOptions } from '../../engine/options.ts'

export function allowAsked(options: LazaretOptions, network: NetworkMode = 'none'): LazaretOptions {
  return { ...options, access: { networks: [network], ...options.access } }
}
