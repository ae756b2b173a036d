/**
 * Whether a program failed because it has no network, or because no rule names a port. The program's output decides only
 * whether Lazaret says so.
 */
import type { Outcome } from '../core/outcome.ts'
import type { Receipt } from '../core/receipt.ts'

/** Messages of runtimes, package managers and other programs without a network. */
const lackOfNetwork =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|DNSResolve|\(from versions: none\)|not resolve host|name resolution|etwork is unreachable/

/** Messages about a port on which nobody listens. A port that no rule of a policy names looks the same. */
const refusedPort =
  /ECONNREFUSED|onnection ?[Rr]efused|nable to connect|ould(?: not|n't) connect to server|ailed to connect to/

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
  return hasNone && !hasSucceeded(outcome) && tellsOfNoNetwork(textsOf({ outcome, stdout, stderr }))
}

/** Never true without a network policy. The policy's report has nothing of such a port: the cell refuses it. */
export function mayHaveNeededPort({ outcome, stdout, stderr, receipt }: Ended): boolean {
  if (receipt.network === undefined || hasSucceeded(outcome)) return false
  return tells(refusedPort, textsOf({ outcome, stdout, stderr }))
}

export function tellsOfNoNetwork(texts: readonly string[]): boolean {
  return tells(lackOfNetwork, texts)
}

function hasSucceeded(outcome: Outcome): boolean {
  return outcome.kind === 'completed' && outcome.exitCode === 0
}

function textsOf({ outcome, stdout, stderr }: Omit<Ended, 'receipt'>): string[] {
  return [stderr, stdout, 'error' in outcome ? outcome.error.message : '']
}

function tells(messages: RegExp, texts: readonly string[]): boolean {
  return texts.some((text) => messages.test(text.slice(-tailLength)))
}
