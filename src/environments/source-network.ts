/** The network of a build: the hosts of the package sources, and nothing else. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'

import { LazaretError } from '../core/errors/errors.ts'
import type { NetworkKind, NetworkPolicy } from '../core/network.ts'
import { ownAddresses, privateRangeOf } from '../jail/edge/address-ranges.ts'
import { networkKindOf } from '../jail/edge/rules.ts'
import { allowsNetwork } from '../policy/access.ts'

const usualPort: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80' }
/** Bound on the downloads of one build. */
const bytesMax = 16 * 1024 ** 3

/** `addresses` are URLs of indexes and registries; `more` are the operator's rules. */
export async function sourceNetwork(
  addresses: readonly string[],
  more: readonly string[],
): Promise<NetworkPolicy> {
  const rules = await Promise.all(addresses.map(rulesOf))
  return { allow: [...new Set([...rules.flat(), ...more])], bytesMax }
}

/**
 * The operator's configuration names the host, so its address may be private. Two hosts at the same private address and
 * port then cannot be distinguished.
 */
async function rulesOf(address: string): Promise<string[]> {
  if (!URL.canParse(address)) return []
  const { hostname, port, protocol } = new URL(address)
  const number = port === '' ? usualPort[protocol] : port
  if (number === undefined || hostname === '') return []
  const name = hostname.replace(/^\[|\]$/g, '')
  if (isIP(name) !== 0) return [rangeOf(name, number)]
  const found = await lookup(name, { all: true }).catch(() => [])
  const special = found
    .map((one) => one.address)
    .filter((one) => privateRangeOf(one) !== undefined || ownAddresses().includes(one))
  return [`${name}:${number}`, ...special.map((one) => rangeOf(one, number))]
}

/** The caller of a build names no network, so the error says why the build needs one, and how the operator allows it. */
export function explainDenied(
  error: unknown,
  network: NetworkPolicy,
  networks: readonly NetworkKind[],
): unknown {
  if (!(error instanceof LazaretError) || error.code !== 'ACCESS_DENIED') return error
  const kind = networkKindOf(network)
  if (allowsNetwork(networks, kind)) return error
  const local = network.allow.filter((rule) => networkKindOf({ allow: [rule] }) === 'local-policy')
  const why =
    local.length === 0 ? '' : `, with ${local.join(', ')}: private or special addresses, or this host's own`
  const needed = JSON.stringify([...networks, kind])
    .replaceAll('"', "'")
    .replaceAll(',', ', ')
  return new LazaretError('ACCESS_DENIED', {
    detail: `Building an environment needs network ${JSON.stringify(kind)} to reach its package sources: ${network.allow.join(', ')}${why}.`,
    hint: `The operator allows it with \`access: { networks: ${needed} }\`. With \`offline\` a build needs no network.`,
    cause: error,
  })
}

function rangeOf(address: string, port: string): string {
  return isIP(address) === 6 ? `[${address}]/128:${port}` : `${address}/32:${port}`
}
