/** A connection of a guest to a host that secrets are for. */
import type { Agent } from 'node:http'

import type { Admission } from './proxy-messages.ts'

export interface Connection {
  readonly admission: Admission
  /** Forms of the values that the host of this connection may know. */
  readonly hidden: readonly string[]
  /** Keeps connections to this host, for this guest's connection alone. */
  readonly agent: Agent
  readonly onUnreachable: (admission: Admission) => void
}
