/**
 * The secrets of a run or a sandbox: its keyring, and the certificates that make its programs trust the keyring's
 * authority.
 */
import { LazaretError } from '../../core/errors/errors.ts'
import type { Network } from '../../core/network.ts'
import type { EdgeSecrets } from '../../core/secrets.ts'
import { findCertificates } from './certificates.ts'
import type { Certificates } from './certificates.ts'
import { Keyring } from './secrets/keyring.ts'
import { trustAuthority } from './trusted-authority.ts'

export interface GuestSecrets {
  readonly keyring: Keyring
  readonly certificates: Certificates
}

interface Asked {
  readonly secrets?: EdgeSecrets | undefined
  readonly network?: Network | undefined
}

/** Throws INVALID_REQUEST without a network policy, or if the policy does not allow a host of a secret. */
export function openGuestSecrets({ secrets, network }: Asked): GuestSecrets | undefined {
  if (secrets === undefined || Object.keys(secrets).length === 0) return undefined
  if (typeof network !== 'object')
    throw new LazaretError('INVALID_REQUEST', {
      detail: 'secrets: they need a network policy, because only its proxy can insert them.',
      hint: 'Name their hosts: `network: { allow: [...] }`.',
    })
  const keyring = new Keyring(secrets, network)
  return {
    keyring,
    certificates: trustAuthority(keyring.authority.certificate, findCertificates(process.env)),
  }
}
