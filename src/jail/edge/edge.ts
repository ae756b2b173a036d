/**
 * A network policy of one run or one sandbox: its rules, what they allowed and refused, and the doors of its cells,
 * which share one budget.
 */
import type { Clock } from '../../core/clock.ts'
import type { NetworkPolicy, NetworkReport } from '../../core/network.ts'
import type { AddressRange } from './address-ranges.ts'
import { Door } from './door.ts'
import type { DoorParts } from './door.ts'
import type { Lookup, Lookups } from './lookups.ts'
import type { Budget, RelayProcess } from './relay-process.ts'
import { NetworkRules } from './rules.ts'
import type { Keyring } from './secrets/keyring.ts'
import type { Target } from './secrets/secret-hosts.ts'
import { SecretProxy } from './secrets/secret-proxy.ts'
import type { Expected } from './secrets/secret-proxy.ts'
import { StandInAddresses, standInRange } from './stand-in-addresses.ts'
import { Tally } from './tally.ts'

export interface EdgeParts {
  readonly clock: Clock
  readonly lookups: Lookups
  /** The secrets for some of its hosts. */
  readonly keyring?: Keyring | undefined
}

/** A socket in the cell that accepts connections. */
export interface Listener {
  readonly port: number
  readonly isSix: boolean
}

/** What each of its cells needs, whichever relay serves it. */
export interface EdgePlan {
  readonly routes: readonly AddressRange[]
  readonly listeners: readonly Listener[]
}

export class Edge implements DoorParts, Budget {
  readonly rules: NetworkRules
  readonly tally = new Tally()
  readonly stand = new StandInAddresses()
  readonly clock: Clock
  readonly lookup: Lookup
  readonly #keyring: Keyring | undefined
  #proxy: SecretProxy | undefined
  #doors = 0

  /** Throws INVALID_REQUEST. */
  constructor(policy: NetworkPolicy, { clock, lookups, keyring }: EdgeParts) {
    this.#keyring = keyring
    this.rules = new NetworkRules(policy)
    this.clock = clock
    this.lookup = lookups.openOne()
  }

  get plan(): EdgePlan {
    return planEdge(this.rules)
  }

  get report(): NetworkReport {
    return this.tally.report
  }

  /** Opens a door for another cell. Throws CELL_FAILED. */
  open(relay: RelayProcess): Door {
    const door = new Door(this, relay)
    this.#doors++
    return door
  }

  /** Call this when a door is closed. Resolves when everything that served only it has ended. */
  async leave(): Promise<void> {
    if (--this.#doors > 0) return
    const proxy = this.#proxy
    this.#proxy = undefined
    await proxy?.end()
  }

  /**
   * For a host with secrets: announces the connection to the secret proxy, to which the relay connects instead. Rejects
   * if the proxy cannot be started.
   */
  expect(target: Target, addresses: readonly string[]): Promise<Expected> | undefined {
    const opened = this.#keyring?.open(target)
    if (opened === undefined) return undefined
    return this.#expect({ target, addresses, connectMs: this.rules.connectMs, ...opened })
  }

  async #expect(connection: Parameters<SecretProxy['expect']>[0]): Promise<Expected> {
    return this.#standingProxy().expect(connection)
  }

  #standingProxy(): SecretProxy {
    const keyring = this.#keyring
    if (keyring === undefined) throw new Error('There are no secrets.')
    if (this.#proxy?.isLost === false) return this.#proxy
    const { connectionsMax } = this.rules
    const onUnreachable = ({ host, port }: Target) => this.tally.refuse(host, 'unreachable', { port })
    this.#proxy = new SecretProxy({ keyring, connectionsMax, onUnreachable })
    return this.#proxy
  }

  get connectionsMax(): number {
    return this.rules.connectionsMax
  }

  /** Counts only connections that have ended. The relay counts the bytes of open ones, too. */
  get bytesLeft(): number {
    return Math.max(0, this.rules.bytesMax - this.tally.bytes)
  }
}

/** IPv6 sockets only if a rule can match an IPv6 address, because a machine may not have IPv6. */
export function planEdge(rules: NetworkRules): EdgePlan {
  const wantsSix = rules.hasLocalhost || rules.ranges.some(({ family }) => family === 'ipv6')
  const families = wantsSix ? [false, true] : [false]
  return {
    routes: [standInRange, ...rules.ranges],
    listeners: rules.ports.flatMap((port) => families.map((isSix) => ({ port, isSix }))),
  }
}
