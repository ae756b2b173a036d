/** A guest's connection to a host of a secret. */
import type { Agent } from 'node:http'

import type { HiddenValues } from './hidden-values.ts'
import type { Admission } from './proxy-messages.ts'

export interface Connection {
  readonly admission: Admission
  /** What to hide in answers: the values that this host may get. */
  readonly hidden: HiddenValues
  /** Keeps connections to this host alive, for this one connection of the guest. */
  readonly agent: Agent
  /** Whether the guest sends HTTP without TLS to a host that is reached over TLS. */
  readonly lacksTls?: boolean
  readonly onUnreachable: (admission: Admission) => void
}
