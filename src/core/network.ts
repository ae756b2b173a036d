/** Network policies: which hosts a guest may reach, and which it has reached. */

export const networkModes = ['none', 'host'] as const
/** The networks that a request can name by one word. */
export type NetworkMode = (typeof networkModes)[number]

export const networkKinds = [...networkModes, 'policy', 'local-policy'] as const
/**
 * What kind of network a request asks for. A `local-policy` names the host's own loopback, or addresses that are private or
 * for special use; a `policy` does not.
 */
export type NetworkKind = (typeof networkKinds)[number]

/** What a guest may reach, over TCP and through the host. Everything else does not exist for the guest. */
export interface NetworkPolicy {
  /**
   * `api.example.com`, `*.example.org:443` (every name below it, at any depth), `203.0.113.0/24:5432`,
   * `[2001:db8::]/32:443`, `localhost:8080` (the host's own loopback). Without a port: 80 and 443. Private and
   * link-local addresses need a rule with their address or range; each of the machine's own addresses needs a rule of
   * its own.
   */
  readonly allow: readonly string[]
  /** In the same form as `allow`, over which it takes precedence. Without a port, it applies to all ports. */
  readonly deny?: readonly string[] | undefined
  /** Connections at one time. Default 64. */
  readonly connectionsMax?: number | undefined
  /** Bytes of all connections, both directions together. Default 1 GiB. */
  readonly bytesMax?: number | undefined
  /** How long the lookup of a name and the connection may take together. Default 10 000. */
  readonly connectMs?: number | undefined
}

export type Network = NetworkMode | NetworkPolicy

export const networkDefaults = {
  connectionsMax: 64,
  bytesMax: 1024 ** 3,
  connectMs: 10_000,
} as const

/** Why a guest could not reach a host. */
export type RefusalReason =
  /** No rule allows it. */
  | 'not-allowed'
  /** A rule of `deny` names it. */
  | 'denied'
  /** The name has no address. */
  | 'not-found'
  /** Its addresses are private, for special use, or those of the machine, and no rule names their range. */
  | 'special-address'
  /** `connectionsMax` connections were open. */
  | 'connections'
  /** `bytesMax` was used up. */
  | 'bytes'
  /** `connectMs` had passed. */
  | 'too-slow'
  /** The address did not answer, or refused. */
  | 'unreachable'
  /** The process that inserts secrets could not be started, or was lost. */
  | 'no-secret-proxy'

/** A host that the guest has reached, under the name that it used. */
export interface ReachedHost {
  readonly host: string
  readonly port: number
  readonly connections: number
  readonly sentBytes: number
  readonly receivedBytes: number
}

export interface NetworkRefusal {
  /** A name, or an address. The guest's own text, with only letters, digits, `.`, `-`, `_` and `:` left. */
  readonly host: string
  /** Absent for a name lookup. */
  readonly port?: number
  readonly reason: RefusalReason
  /** With `special-address`: the rule for the host's address that is missing, if there can be one. */
  readonly missingRule?: string
  readonly count: number
}

/** What a guest did under a network policy, as the host saw it. */
export interface NetworkReport {
  readonly hosts: readonly ReachedHost[]
  readonly refused: readonly NetworkRefusal[]
  /** The number of further hosts and refusals, which are not listed. */
  readonly unlisted: number
  /** Rules that would have allowed the refused connections, for a person to judge. */
  readonly wouldAllow: readonly string[]
}

/** The sums of a report. */
export interface NetworkTotals {
  readonly connections: number
  readonly sentBytes: number
  readonly receivedBytes: number
  readonly refusals: number
}

export function sumNetwork({ hosts, refused }: NetworkReport): NetworkTotals {
  const sum = (key: 'connections' | 'sentBytes' | 'receivedBytes') =>
    hosts.reduce((total, host) => total + host[key], 0)
  return {
    connections: sum('connections'),
    sentBytes: sum('sentBytes'),
    receivedBytes: sum('receivedBytes'),
    refusals: refused.reduce((total, { count }) => total + count, 0),
  }
}

/** The cell's kind of network: with a policy, a guest has a network namespace like any other guest. */
export function networkModeOf(network: Network = 'none'): NetworkMode {
  return typeof network === 'string' ? network : 'none'
}

/** The network in one word, for metrics and records. */
export function nameNetwork(network: Network = 'none'): NetworkMode | 'policy' {
  return typeof network === 'string' ? network : 'policy'
}

/** The difference between two reports about one network. */
export function reportSince(
  before: NetworkReport | undefined,
  after: NetworkReport | undefined,
): NetworkReport | undefined {
  if (before === undefined || after === undefined) return after
  const hosts = after.hosts.map((one) => {
    const old = before.hosts.find(({ host, port }) => host === one.host && port === one.port)
    const increase = (key: 'connections' | 'sentBytes' | 'receivedBytes') => one[key] - (old?.[key] ?? 0)
    const [connections, sentBytes, receivedBytes] = [
      increase('connections'),
      increase('sentBytes'),
      increase('receivedBytes'),
    ]
    return { ...one, connections, sentBytes, receivedBytes }
  })
  const counts = after.refused.map((one) => {
    const isSame = (other: NetworkRefusal) =>
      other.host === one.host && other.port === one.port && other.reason === one.reason
    return { ...one, count: one.count - (before.refused.find(isSame)?.count ?? 0) }
  })
  const refused = counts.filter(({ count }) => count > 0)
  return {
    hosts: hosts.filter((one) => one.connections + one.sentBytes + one.receivedBytes > 0),
    refused,
    unlisted: after.unlisted - before.unlisted,
    wouldAllow: missingRules(refused),
  }
}

/** Rules that would have allowed what was refused, where a rule would help and can be written. */
export function missingRules(refused: readonly NetworkRefusal[]): string[] {
  const rules = refused.flatMap(({ host, port, reason, missingRule }) => {
    if (missingRule !== undefined) return [missingRule]
    // A guest that connects to its own loopback does not mean the host's.
    if (host === 'localhost' || reason !== 'not-allowed') return []
    return writeRule(host, port) ?? []
  })
  return [...new Set(rules)]
}

/** A rule for a name or an address. Undefined for any other text. */
export function writeRule(host: string, port: number | undefined): string | undefined {
  const isUsual = port === undefined || port === 443 || port === 80
  if (/^[A-Za-z0-9._-]+$/.test(host)) return isUsual ? host : `${host}:${port}`
  if (/^[0-9a-f.]*:[0-9a-f:.]+$/i.test(host)) return isUsual ? host : `[${host}]:${port}`
  return undefined
}

const describedMax = 8

/** As a sentence; undefined if nothing was refused. */
export function describeRefusals({ refused }: NetworkReport): string | undefined {
  if (refused.length === 0) return undefined
  const some = refused.slice(0, describedMax).map(({ host, port, reason }) => {
    return `${port === undefined ? host : `${host}:${port}`} (${reason})`
  })
  const more = refused.length > describedMax ? ` and ${refused.length - describedMax} more` : ''
  return `The network policy refused ${some.join(', ')}${more}.`
}
