/** The messages between host and secret proxy. */
import type { Authority } from './authority.ts'
import type { PlacedSecret } from './placed-secrets.ts'
import type { Target } from './secret-hosts.ts'

/** A connection that the relay is about to make, and where it leads. */
export interface Admission {
  /** Its first bytes, in hexadecimal: nobody else knows them. */
  readonly ticket: string
  readonly target: Target
  /** Checked against the policy's rules. The proxy connects to no other address. */
  readonly addresses: readonly string[]
  readonly secrets: readonly PlacedSecret[]
  readonly isEncrypted: boolean
  readonly connectMs: number
}

export type ToProxy =
  | { readonly say: 'open'; readonly authority: Authority; readonly connectionsMax: number }
  | { readonly say: 'admit'; readonly admission: Admission }

export type FromProxy =
  | { readonly say: 'ready'; readonly port: number }
  | { readonly say: 'admitted'; readonly ticket: string }
  | { readonly say: 'unreachable'; readonly target: Target }

export const ticketBytes = 32
