/** A connection of a guest to a host that secrets are for. */
import type { Agent } from 'node:http'

import type { Admission } from './proxy-messages.ts'

export interface Connection {
  readonly admission: Admission
  /** Forms of the values that the host of this connection may know. */
  readonly hidden: readonly string[]
  /** Keeps connections to this host alive, for this one connection of the guest. */
  readonly agent: Agent
  /** Whether the guest sends HTTP without TLS to a host that is reached over TLS. */
  readonly lacksTls?: boolean
  readonly onUnreachable: (admission: Admission) => void
}
