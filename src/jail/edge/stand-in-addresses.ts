/**
 * The addresses that names have inside a cell: each name gets its own from 198.18.0.0/15, which is reserved for network
 * benchmarks (RFC 2544) and routed to the cell's loopback. The address tells which name a connection is for. The host
 * looks up the real address for each connection.
 */
export const standInRange = { address: '198.18.0.0', prefix: 15, family: 'ipv4' } as const

const namesMax = 4096
const first = (198 << 24) | (18 << 16) | 1

export class StandInAddresses {
  readonly #addresses = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** Undefined if there are too many names. */
  of(name: string): string | undefined {
    const known = this.#addresses.get(name)
    if (known !== undefined) return known
    if (this.#addresses.size >= namesMax) return undefined
    const number = (first + this.#addresses.size) >>> 0
    const address = [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
    this.#addresses.set(name, address)
    this.#names.set(address, name)
    return address
  }

  nameOf(address: string): string | undefined {
    return this.#names.get(address)
  }
}
