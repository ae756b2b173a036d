/** Records what a guest reached and what it was refused. The record is bounded, whatever the guest tries. */
import { missingRules } from '../../core/network.ts'
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
  readonly missingRule?: string | undefined
}

interface Refused {
  readonly host: string
  readonly port: number | undefined
  readonly reason: RefusalReason
  readonly missingRule: string | undefined
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
  refuse(name: string, reason: RefusalReason, { port, count = 1, missingRule }: RefusedAt = {}): void {
    const host = printableName(name)
    const key = `${host}:${port ?? ''}:${reason}`
    const known = this.#refused.get(key)
    if (known !== undefined) known.count += count
    else if (this.#refused.size >= listedMax) this.#unlisted += count
    else this.#refused.set(key, { host, port, reason, missingRule, count })
  }

  get report(): NetworkReport {
    const refused = [...this.#refused.values()].map(({ port, missingRule, ...one }) => ({
      ...one,
      ...(port !== undefined && { port }),
      ...(missingRule !== undefined && { missingRule }),
    }))
    return {
      hosts: [...this.#reached.values()].map((one) => ({ ...one })),
      refused,
      unlisted: this.#unlisted,
      wouldAllow: missingRules(refused),
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
