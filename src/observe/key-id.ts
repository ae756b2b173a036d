import { hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'

/** The SHA-256 of a public key's SPKI form, in hexadecimal. */
export function keyIdOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'hex')
}
