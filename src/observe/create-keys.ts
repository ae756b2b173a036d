import { createPublicKey, generateKeyPairSync } from 'node:crypto'

import { keyIdOf } from './key-id.ts'

/** An Ed25519 key pair, in PEM. */
export interface ReceiptKeys {
  readonly privateKey: string
  readonly publicKey: string
  /** The name by which signatures refer to it. */
  readonly keyId: string
}

/** Makes keys for the option `receipts`. The private key can sign anything; the public key checks signatures. */
export function createReceiptKeys(): ReceiptKeys {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519', {
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  return { privateKey, publicKey, keyId: keyIdOf(createPublicKey(publicKey)) }
}
