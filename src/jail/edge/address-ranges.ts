/** Ranges of addresses: how they are written, what is in them, and which of them are for special use. */
import { BlockList, isIP, SocketAddress } from 'node:net'
import { networkInterfaces } from 'node:os'

import { once } from '../../core/once.ts'

export interface AddressRange {
  readonly address: string
  readonly prefix: number
  readonly family: 'ipv4' | 'ipv6'
}

const lengthOf = { ipv4: 32, ipv6: 128 } as const
const familyOf = (address: string): AddressRange['family'] => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Parses `203.0.113.0/24` or a single address. Undefined if it is neither. */
export function parseRange(text: string): AddressRange | undefined {
  const [address = '', length, ...more] = text.split('/')
  if (isIP(address) === 0 || address.includes('%') || more.length > 0) return undefined
  const family = familyOf(address)
  if (length === undefined) return { address, prefix: lengthOf[family], family }
  if (!/^\d{1,3}$/.test(length) || Number(length) > lengthOf[family]) return undefined
  return { address, prefix: Number(length), family }
}

/** A set of ranges, which tells whether an address is in one of them. */
export class RangeSet {
  readonly #list = new BlockList()

  constructor(ranges: readonly AddressRange[]) {
    for (const { address, prefix, family } of ranges) this.#list.addSubnet(address, prefix, family)
  }

  has(address: string): boolean {
    return this.#list.check(address, familyOf(address))
  }
}

/** Whether every address of `inner` is in `outer`. */
export function contains(outer: AddressRange, inner: AddressRange): boolean {
  if (outer.family !== inner.family || inner.prefix < outer.prefix) return false
  return new RangeSet([outer]).has(inner.address)
}

const ranges = (text: string): AddressRange[] =>
  text
    .trim()
    .split(/\s+/)
    .map((one) => parseRange(one))
    .filter((one) => one !== undefined)

/**
 * Ranges to which a connection goes only if a rule names a range inside one of them: private, shared and link-local
 * addresses, including the metadata services of clouds, and the ranges reserved for documentation and tests.
 * Source: the IANA registries of special-purpose addresses, RFC 6890 and its successors.
 */
const privateTexts = `
  10.0.0.0/8 100.64.0.0/10 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 192.168.0.0/16
  198.51.100.0/24 203.0.113.0/24 fc00::/7 fe80::/10 fec0::/10 2001:db8::/32 3fff::/20 5f00::/16 100::/64
`

/**
 * Ranges to which no rule lets a connection go: this host, broadcast and multicast, the stand-in addresses of names, and
 * IPv6 addresses that stand for an IPv4 address (mapped, translated, 6to4, Teredo, local translation).
 */
const closedTexts = `
  0.0.0.0/8 127.0.0.0/8 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4
  ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 2001::/23 2002::/16 ff00::/8
`

const loopback = once(() => ranges('127.0.0.0/8 ::1'))

/** Created on demand, because most runs have no network. */
const specialRanges = once(() => {
  const closed = ranges(closedTexts)
  const setOf = (family: AddressRange['family']) =>
    new RangeSet(closed.filter((one) => one.family === family))
  return {
    closed,
    closedSets: { ipv4: setOf('ipv4'), ipv6: setOf('ipv6') },
    private: ranges(privateTexts).map((range) => ({ range, set: new RangeSet([range]) })),
  }
})

export function isClosed(address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return true
  // Checked separately: a BlockList also looks for IPv4 addresses in the mapped IPv6 range, which contains all of them.
  return specialRanges().closedSets[familyOf(address)].has(address)
}

/** The part of a range for special use that holds the address, if one does. */
export function privateRangeOf(address: string): AddressRange | undefined {
  const family = familyOf(address)
  return specialRanges().private.find(({ range, set }) => range.family === family && set.has(address))?.range
}

/** Whether every address of the range is one of the host's loopback. */
export function isLoopback(range: AddressRange): boolean {
  return loopback().some((outer) => contains(outer, range))
}

/** Whether a range has addresses that no rule can allow. */
export function touchesClosed(range: AddressRange): boolean {
  return specialRanges().closed.some((other) => contains(other, range) || contains(range, other))
}

/**
 * Whether a rule for this range opens special-use addresses, which it does inside one of their ranges, or one of the
 * machine's own.
 */
export function touchesPrivate(range: AddressRange): boolean {
  return (
    specialRanges().private.some((other) => contains(other.range, range)) ||
    ownAddresses().some((own) => isAlone(range, own))
  )
}

const isAlone = (range: AddressRange, address: string): boolean =>
  range.prefix === lengthOf[range.family] &&
  range.family === familyOf(address) &&
  new RangeSet([range]).has(address)

/** Addresses of the machine itself. */
export function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address))
}

/** An address in the kernel's form: 4 bytes, or 16. */
export function readAddress(bytes: Buffer): string {
  if (bytes.length === 4) return bytes.join('.')
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16))
  // An address in the form that resolvers and interfaces use.
  return new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address
}

export function writeAddress(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number))
  const bytes = Buffer.alloc(16)
  const full = new URL(`http://[${address}]/`).hostname.slice(1, -1)
  const [head = '', tail] = full.split('::')
  const groups = (text: string | undefined) => (text === undefined || text === '' ? [] : text.split(':'))
  groups(head).forEach((group, index) => bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * index))
  const last = groups(tail)
  last.forEach((group, index) =>
    bytes.writeUInt16BE(Number.parseInt(group, 16), 16 - 2 * (last.length - index)),
  )
  return bytes
}
