/** The rules of a policy: which names and addresses they allow. Pure. */
import { LazaretError } from '../../core/errors/errors.ts'
import { networkDefaults } from '../../core/network.ts'
import type { Network, NetworkKind, NetworkPolicy, RefusalReason } from '../../core/network.ts'
import {
  contains,
  isClosed,
  isLoopback,
  parseRange,
  privateRangeOf,
  RangeSet,
  touchesClosed,
  touchesPrivate,
} from './address-ranges.ts'
import type { AddressRange } from './address-ranges.ts'
import { toHostName } from './host-names.ts'

/** A port, or undefined for a rule that names none. */
type Port = number | undefined

export type Rule =
  | { readonly kind: 'name'; readonly name: string; readonly port: Port }
  /** A rule for every name below this one. */
  | { readonly kind: 'below'; readonly name: string; readonly port: Port }
  | { readonly kind: 'range'; readonly range: AddressRange; readonly port: Port }
  /** The host's own loopback. */
  | { readonly kind: 'localhost'; readonly port: Port }

const portsOfAllow = [80, 443] as const
/** Each port is a listener in each cell, and two if a rule can match an IPv6 address. */
export const portsMax = 64

/** Throws an error whose message says what is wrong with the rule. */
export function parseRule(text: string): Rule {
  if (text.includes('://')) throw new Error(`is a URL, and a rule names a host: ${text}`)
  const { host, port } = splitPort(text)
  const range = parseRange(host)
  if (range !== undefined) {
    if (isLoopback(range)) throw new Error(`is this host, for which a rule says only \`localhost\`: ${host}`)
    if (touchesClosed(range)) throw new Error(`covers addresses that no rule can open: ${host}`)
    return { kind: 'range', range, port }
  }
  if (host.includes('/')) throw new Error(`is not a range of addresses: ${host}`)
  const isBelow = host.startsWith('*.')
  const name = toHostName(isBelow ? host.slice(2) : host)
  if (name === undefined) throw new Error(`is not a name, a range of addresses or \`localhost\`: ${host}`)
  if (name === 'localhost' && !isBelow) return { kind: 'localhost', port }
  if (name === 'localhost' || name.endsWith('.localhost'))
    throw new Error('names this host, for which a rule says only `localhost`')
  return { kind: isBelow ? 'below' : 'name', name, port }
}

/** `[2001:db8::]/32:443`: an address with a port needs brackets; without brackets there is no port. */
function splitPort(text: string): { host: string; port: Port } {
  const six = /^\[([0-9a-fA-F:.]+)\](\/\d{1,3})?(?::(.*))?$/.exec(text)
  if (six !== null) return { host: `${six[1]}${six[2] ?? ''}`, port: readPort(six[3]) }
  if (text.split(':').length > 2) return { host: text, port: undefined }
  const [host = '', port] = text.split(':')
  return { host, port: readPort(port) }
}

function readPort(text: string | undefined): Port {
  if (text === undefined) return undefined
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port < 1 || port > 65_535) throw new Error(`is not a port: ${text}`)
  return port
}

/** Throws INVALID_REQUEST. */
export function networkKindOf(network: Network = 'none'): NetworkKind {
  if (typeof network === 'string') return network
  const { hasLocalhost, ranges } = new NetworkRules(network)
  return hasLocalhost || ranges.some(touchesPrivate) ? 'local-policy' : 'policy'
}

/** The reason for which an address is refused; undefined if it is allowed. */
export type Verdict = Extract<RefusalReason, 'not-allowed' | 'denied' | 'special-address'> | undefined

export class NetworkRules {
  readonly allow: readonly Rule[]
  readonly deny: readonly Rule[]
  readonly connectionsMax: number
  readonly bytesMax: number
  readonly connectMs: number

  /** Throws INVALID_REQUEST. */
  constructor(policy: NetworkPolicy) {
    this.allow = policy.allow.map((text) => readRule(text))
    this.deny = (policy.deny ?? []).map((text) => readRule(text))
    this.connectionsMax = policy.connectionsMax ?? networkDefaults.connectionsMax
    this.bytesMax = policy.bytesMax ?? networkDefaults.bytesMax
    this.connectMs = policy.connectMs ?? networkDefaults.connectMs
  }

  /** Every port that a rule allows, in order. */
  get ports(): readonly number[] {
    return [...new Set(this.allow.flatMap(portsOf))].toSorted((a, b) => a - b)
  }

  /** The ports that rules allow for this name. */
  portsOfName(name: string): readonly number[] {
    return this.allow.flatMap((rule) => (namesIt(rule, name) ? portsOf(rule) : []))
  }

  get ranges(): readonly AddressRange[] {
    return this.allow.flatMap((rule) => (rule.kind === 'range' ? [rule.range] : []))
  }

  get hasLocalhost(): boolean {
    return this.allow.some(({ kind }) => kind === 'localhost')
  }

  /** Judges a DNS query: whether any port of this name is allowed. The name is in the form of host-names.ts. */
  judgeName(name: string): Verdict {
    if (this.deny.some((rule) => rule.port === undefined && namesIt(rule, name))) return 'denied'
    return this.allow.some((rule) => namesIt(rule, name)) ? undefined : 'not-allowed'
  }

  get deniesNames(): boolean {
    return this.deny.some(({ kind }) => kind === 'name' || kind === 'below')
  }

  /** Judges a name that an allowed name is an alias of. */
  deniesAlias(written: string, port: number | undefined): boolean {
    const name = toHostName(written)
    const applies = (rule: Rule) => rule.port === undefined || rule.port === port
    return name === undefined || this.deny.some((rule) => applies(rule) && namesIt(rule, name))
  }

  judgeNamedPort(name: string, port: number): Verdict {
    if (this.deny.some((rule) => (rule.port ?? port) === port && namesIt(rule, name))) return 'denied'
    return this.allow.some((rule) => portsOf(rule).includes(port) && namesIt(rule, name))
      ? undefined
      : 'not-allowed'
  }

  /** Judges a connection to an address that did not come from a name. */
  judgeRawAddress(address: string, port: number): Verdict {
    const isListed = this.allow.some((rule) => portsOf(rule).includes(port) && holds(rule, address))
    return isListed ? undefined : 'not-allowed'
  }

  judgeLocalhost(port: number): Verdict {
    const isNamed = (rule: Rule) => rule.kind === 'localhost'
    if (this.deny.some((rule) => isNamed(rule) && (rule.port ?? port) === port)) return 'denied'
    return this.allow.some((rule) => isNamed(rule) && portsOf(rule).includes(port))
      ? undefined
      : 'not-allowed'
  }

  /** Judges the address of a connection, whatever led to it. `own` are the addresses of the machine. */
  judgeAddress(address: string, port: number, own: readonly string[]): Verdict {
    if (isClosed(address)) return 'special-address'
    if (this.deny.some((rule) => (rule.port ?? port) === port && holds(rule, address))) return 'denied'
    const named = this.allow.flatMap((rule) =>
      rule.kind === 'range' && portsOf(rule).includes(port) && holds(rule, address) ? [rule.range] : [],
    )
    // The machine's own addresses have to be named one by one: a range does not open them.
    if (own.includes(address) && !named.some(isOneAddress)) return 'special-address'
    const special = privateRangeOf(address)
    if (special === undefined || named.some((range) => contains(special, range))) return undefined
    return 'special-address'
  }
}

const isOneAddress = ({ prefix, family }: AddressRange): boolean => prefix === (family === 'ipv4' ? 32 : 128)

function portsOf({ port }: Rule): readonly number[] {
  return port === undefined ? portsOfAllow : [port]
}

function namesIt(rule: Rule, name: string): boolean {
  if (rule.kind === 'name') return rule.name === name
  return rule.kind === 'below' && name.endsWith(`.${rule.name}`)
}

function holds(rule: Rule, address: string): boolean {
  return (
    rule.kind === 'range' && !isOfOtherFamily(rule.range, address) && new RangeSet([rule.range]).has(address)
  )
}

const isOfOtherFamily = ({ family }: AddressRange, address: string): boolean =>
  (family === 'ipv6') !== address.includes(':')

/** What is wrong with a rule, if anything is. */
export function explainBadRule(text: string): string | undefined {
  try {
    parseRule(text)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function readRule(text: string): Rule {
  try {
    return parseRule(text)
  } catch (cause) {
    throw new LazaretError('INVALID_REQUEST', {
      detail: `network: ${JSON.stringify(text)} ${(cause as Error).message}.`,
    })
  }
}
