/** Whether a program failed because it has no network. The program's output decides only whether Lazaret says so. */
import type { Outcome } from '../core/outcome.ts'
import type { Receipt } from '../core/receipt.ts'

/** Messages of runtimes, package managers and other programs without a network. */
const lackOfNetwork =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|DNSResolve|\(from versions: none\)|not resolve host|name resolution|etwork is unreachable/

/** The end of the output says why a program failed. */
const tailLength = 64 * 1024

export interface Ended {
  readonly outcome: Outcome
  readonly stdout: string
  readonly stderr: string
  readonly receipt: Pick<Receipt, 'layers' | 'network'>
}

/**
 * Never true for a program in the host's network, which has no such layer, or for one with a network policy, which
 * reports what it refused.
 */
export function failedWithoutNetwork({ outcome, stdout, stderr, receipt }: Ended): boolean {
  const hasNone = receipt.network === undefined && receipt.layers.includes('network-namespace')
  if (!hasNone || (outcome.kind === 'completed' && outcome.exitCode === 0)) return false
  return tellsOfNoNetwork([stderr, stdout, 'error' in outcome ? outcome.error.message : ''])
}

export function tellsOfNoNetwork(texts: readonly string[]): boolean {
  return texts.some((text) => lackOfNetwork.test(text.slice(-tailLength)))
}
