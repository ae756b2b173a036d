/**
 * A network that is a policy, for one run or one sandbox: its rules, what was done by them, and the doors of its cells,
 * which share one budget.
 */
import type { Clock } from '../../core/clock.ts'
import type { NetworkPolicy, NetworkReport } from '../../core/network.ts'
import type { AddressRange } from './address-ranges.ts'
import { Door } from './door.ts'
import type { DoorParts } from './door.ts'
import type { Lookup, Lookups } from './lookups.ts'
import type { Purse, RelayProcess } from './relay-process.ts'
import { NetworkRules } from './rules.ts'
import { StandInAddresses, standInRange } from './stand-in-addresses.ts'
import { Tally } from './tally.ts'

export interface EdgeParts {
  readonly clock: Clock
  readonly lookups: Lookups
}

/** A socket of the cell that takes connections. */
export interface Listener {
  readonly port: number
  readonly isSix: boolean
}

/** What every cell of it needs, whatever relay serves it. */
export interface EdgePlan {
  readonly routes: readonly AddressRange[]
  readonly listeners: readonly Listener[]
}

export class Edge implements DoorParts, Purse {
  readonly rules: NetworkRules
  readonly tally = new Tally()
  readonly stand = new StandInAddresses()
  readonly clock: Clock
  readonly lookup: Lookup

  /** Throws INVALID_REQUEST. */
  constructor(policy: NetworkPolicy, { clock, lookups }: EdgeParts) {
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

  /** A door for one more cell. Throws CELL_FAILED. */
  open(relay: RelayProcess): Door {
    return new Door(this, relay)
  }

  get connectionsMax(): number {
    return this.rules.connectionsMax
  }

  /** Of what has been counted; the relay knows of open connections too. */
  get bytesLeft(): number {
    return Math.max(0, this.rules.bytesMax - this.tally.bytes)
  }
}

/** Sockets of IPv6 only where a rule can be met by one: a machine may have none. */
export function planEdge(rules: NetworkRules): EdgePlan {
  const wantsSix = rules.hasLocalhost || rules.ranges.some(({ family }) => family === 'ipv6')
  const families = wantsSix ? [false, true] : [false]
  return {
    routes: [standInRange, ...rules.ranges],
    listeners: rules.ports.flatMap((port) => families.map((isSix) => ({ port, isSix }))),
  }
}
