/** Checks a signed receipt with nothing but the public key. */
import { createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'

import type { SignedStatement, Statement } from '../core/receipt.ts'
import { canonicalJson } from './canonical-json.ts'
import { keyIdOf } from './key-id.ts'

export type ReceiptVerification =
  | { readonly isValid: true; readonly statement: Statement }
  | { readonly isValid: false; readonly reason: string }

/**
 * Whether the holder of a key has stated what a receipt says.
 *
 * @param document A result of `run()`, its `receipt`, its `receipt.signature`, or a line of an audit log; as an object, or as
 *   the text of it in JSON. What of a result or receipt the signature states too has to be the same in both.
 * @param publicKey PEM.
 * @throws {TypeError} When the key is no public key of Ed25519.
 * @example
 * ```ts
 * const { isValid } = verifyReceipt(result, await readFile('lazaret.pub', 'utf8'))
 * ```
 */
export function verifyReceipt(document: unknown, publicKey: string | Buffer): ReceiptVerification {
  const key = readPublicKey(publicKey)
  const parsed = parse(document)
  const signed = findSigned(parsed)
  if (signed === undefined) return invalid('there is no signature in it')
  if (signed.keyId !== key.id) return invalid('it is signed by another key, or by none')
  if (!isSignedBy(key, signed)) return invalid('its signature does not fit: something was changed')
  const { statement } = signed
  const differing = findDifference(parsed, statement)
  return differing === undefined
    ? { isValid: true, statement }
    : invalid(`\`${differing}\` is not what the signature states`)
}

export interface PublicKey {
  readonly key: KeyObject
  readonly id: string
}

/** Throws a TypeError. */
export function readPublicKey(pem: string | Buffer): PublicKey {
  let key
  try {
    key = createPublicKey(pem)
  } catch (cause) {
    throw new TypeError('The key is no public key in PEM.', { cause })
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('The key is no public key of Ed25519.')
  return { key, id: keyIdOf(key) }
}

export function isSignedBy({ key, id }: PublicKey, { statement, keyId, value }: SignedStatement): boolean {
  if (keyId !== id || typeof value !== 'string') return false
  const signature = Buffer.from(value, 'base64')
  // Another spelling of the same bytes is a change too.
  if (signature.toString('base64') !== value) return false
  try {
    return verify(null, Buffer.from(canonicalJson(statement)), key, signature)
  } catch {
    return false
  }
}

function invalid(reason: string): ReceiptVerification {
  return { isValid: false, reason }
}

function parse(document: unknown): unknown {
  if (typeof document !== 'string') return document
  try {
    return JSON.parse(document)
  } catch {
    return undefined
  }
}

function findSigned(document: unknown): SignedStatement | undefined {
  const { receipt, signature, statement } = fieldsOf(document)
  if (receipt !== undefined) return findSigned(receipt)
  // Of an audit log's line.
  if (statement !== undefined && signature !== undefined)
    return { ...fieldsOf(signature), statement } as SignedStatement
  if (signature !== undefined) return findSigned(signature)
  return statement === undefined ? undefined : (document as SignedStatement)
}

/** The first field of a result or a receipt that is not what the statement says. */
function findDifference(document: unknown, statement: Statement): string | undefined {
  const { id, outcome, usage, receipt, signature, statement: own } = fieldsOf(document)
  if (own !== undefined) return undefined
  if (receipt === undefined) {
    if (signature === undefined) return undefined
    const { signature: _, ...unsigned } = fieldsOf(document)
    return firstDifference(unsigned, statement.receipt)
  }
  if (id !== statement.id) return 'id'
  if (fieldsOf(outcome)['kind'] !== statement.outcome) return 'outcome.kind'
  if (fieldsOf(outcome)['exitCode'] !== statement.exitCode) return 'outcome.exitCode'
  if (!isDeepStrictEqual(usage, statement.usage)) return 'usage'
  const inside = findDifference(receipt, statement)
  return inside && `receipt.${inside}`
}

function firstDifference(one: Record<string, unknown>, other: object = {}): string | undefined {
  const stated = fieldsOf(other)
  const names = [...new Set([...Object.keys(one), ...Object.keys(stated)])]
  return names.find((name) => !isDeepStrictEqual(one[name], stated[name]))
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
