/** A guest's connection to a host of a secret. */
import type { Agent } from 'node:http'

import type { Admission } from './proxy-messages.ts'

export interface Connection {
  readonly admission: Admission
  /** The texts to hide in answers: all forms of the values that this host may get. */
  readonly hidden: readonly string[]
  /** Keeps connections to this host alive, for this one connection of the guest. */
  readonly agent: Agent
  /** Whether the guest sends HTTP without TLS to a host that is reached over TLS. */
  readonly lacksTls?: boolean
  readonly onUnreachable: (admission: Admission) => void
}
