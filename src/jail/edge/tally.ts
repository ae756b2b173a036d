/** Records what a guest reached and what it was refused. The record is bounded, whatever the guest tries. */
import type { NetworkReport, RefusalReason } from '../../core/network.ts'
import { printableName } from './host-names.ts'

/** As many as fit into a line of the audit log, even with the longest names. */
const listedMax = 32

interface Reached {
  readonly host: string
  readonly port: number
  connections: number
  sentBytes: number
  receivedBytes: number
}

/** At which port, and how often. */
interface RefusedAt {
  readonly port?: number
  readonly count?: number
}

interface Refused {
  readonly host: string
  readonly port: number | undefined
  readonly reason: RefusalReason
  count: number
}

export class Tally {
  readonly #reached = new Map<string, Reached>()
  readonly #refused = new Map<string, Refused>()
  #unlisted = 0
  #bytes = 0

  /** The bytes of all connections that have ended. */
  get bytes(): number {
    return this.#bytes
  }

  reach(host: string, port: number): void {
    const one = this.#entry(host, port)
    if (one === undefined) this.#unlisted++
    else one.connections++
  }

  count(
    target: { readonly host: string; readonly port: number },
    sentBytes: number,
    receivedBytes: number,
  ): void {
    this.#bytes += sentBytes + receivedBytes
    const one = this.#reached.get(`${target.host}:${target.port}`)
    if (one === undefined) return
    one.sentBytes += sentBytes
    one.receivedBytes += receivedBytes
  }

  /** The name is guest text. */
  refuse(name: string, reason: RefusalReason, { port, count = 1 }: RefusedAt = {}): void {
    const host = printableName(name)
    const key = `${host}:${port ?? ''}:${reason}`
    const known = this.#refused.get(key)
    if (known !== undefined) known.count += count
    else if (this.#refused.size >= listedMax) this.#unlisted += count
    else this.#refused.set(key, { host, port, reason, count })
  }

  get report(): NetworkReport {
    return {
      hosts: [...this.#reached.values()].map((one) => ({ ...one })),
      refused: [...this.#refused.values()].map(({ port, ...one }) =>
        port === undefined ? one : { ...one, port },
      ),
      unlisted: this.#unlisted,
      wouldAllow: [...new Set([...this.#refused.values()].flatMap(ruleFor))],
    }
  }

  #entry(host: string, port: number): Reached | undefined {
    const key = `${host}:${port}`
    const known = this.#reached.get(key)
    if (known !== undefined || this.#reached.size >= listedMax) return known
    const one: Reached = { host, port, connections: 0, sentBytes: 0, receivedBytes: 0 }
    this.#reached.set(key, one)
    return one
  }
}

/** Only if a rule would have allowed it, and if such a rule can be written. */
function ruleFor({ host, port, reason }: Refused): string[] {
  // A guest that connects to its own loopback does not mean the host's.
  if (host === 'localhost' || reason !== 'not-allowed' || !/^[A-Za-z0-9._-]+$/.test(host)) return []
  return [port === undefined || port === 443 || port === 80 ? host : `${host}:${port}`]
}
