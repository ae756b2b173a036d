/** Guest text that only decides whether Lazaret says that there is no network. */

/** Messages of runtimes, package managers and other programs without a network. */
const lackOfNetwork =
  /ENOTFOUND|EAI_AGAIN|ENETUNREACH|DNSResolve|\(from versions: none\)|not resolve host|name resolution|etwork is unreachable/

/** The end of the output says why a program failed. */
const tailLength = 64 * 1024

export function tellsOfNoNetwork(texts: readonly string[]): boolean {
  return texts.some((text) => lackOfNetwork.test(text.slice(-tailLength)))
}
