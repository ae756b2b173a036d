/** The parts of a sandbox: its caller's checked options, and what the engine provides. */
import type { HostAccount } from '../core/host-account.ts'
import type { Clamp } from '../core/limits.ts'
import type { Notary } from '../observe/notary.ts'
import type { Governor } from '../policy/governor.ts'
import type { ContextsParts } from './contexts/contexts.ts'
import type { SpacesParts } from './spaces.ts'
import type { Variables } from './types.ts'

export interface SandboxParts extends SpacesParts {
  readonly id: string
  readonly client: string | undefined
  readonly account: HostAccount
  readonly governor: Governor
  readonly notary: Notary | undefined
  readonly clamps: readonly Clamp[]
  readonly env: Variables
  readonly files: Readonly<Record<string, Uint8Array>>
  readonly idleTimeoutMs: number | undefined
  readonly allowDegradedSecrets: boolean
  readonly contexts: Pick<ContextsParts, 'programs' | 'readFunctions'>
  /** Called once, when everything of it that could be removed is removed. */
  readonly onGone: () => void
}
