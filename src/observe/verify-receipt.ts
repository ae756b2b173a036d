/** Checks a signed receipt with only the public key. */
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
 * @param document A result of `run()`, its `receipt`, its `receipt.signature`, or a line of an audit log; as an object,
 *   or as its JSON text. Fields of a result or receipt that are also in the signed statement must be the same in both.
 * @param publicKey PEM.
 * @throws {TypeError} If the key is not a public Ed25519 key.
 * @example
 * ```ts
 * const { isValid } = verifyReceipt(result, await readFile('lazaret.pub', 'utf8'))
 * ```
 */
export function verifyReceipt(document: unknown, publicKey: string | Buffer): ReceiptVerification {
  const key = readPublicKey(publicKey)
  const parsed = parse(document)
  const signed = findSigned(parsed)
  if (signed === undefined) return invalid('it has no signature')
  if (signed.keyId !== key.id) return invalid('it is signed by another key, or by none')
  if (!isSignedBy(key, signed)) return invalid('its signature does not match: something was changed')
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
    throw new TypeError('The key is not a public key in PEM.', { cause })
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new TypeError('The key is not a public Ed25519 key.')
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

/** The kind of document, by its form alone: added members must not make it look like another kind. */
function findSigned(document: unknown): SignedStatement | undefined {
  const { receipt, signature, statement } = fieldsOf(document)
  if (receipt !== undefined) return signedOf(fieldsOf(receipt)['signature'])
  if (signature === undefined) return signedOf(document)
  // A line of an audit log has the statement beside the signature, a receipt has it inside.
  return isLine(document) ? ({ ...fieldsOf(signature), statement } as SignedStatement) : signedOf(signature)
}

function signedOf(value: unknown): SignedStatement | undefined {
  return fieldsOf(value)['statement'] === undefined ? undefined : (value as SignedStatement)
}

function isLine(document: unknown): boolean {
  const { statement, signature } = fieldsOf(document)
  return statement !== undefined && fieldsOf(signature)['statement'] === undefined
}

/** The first field of a result or a receipt that differs from the statement. */
function findDifference(document: unknown, statement: Statement): string | undefined {
  const { id, ok, outcome, usage, receipt, signature } = fieldsOf(document)
  if (receipt === undefined)
    return signature === undefined || isLine(document) ? undefined : findInReceipt(document, statement)
  if (id !== statement.id) return 'id'
  if (fieldsOf(outcome)['kind'] !== statement.outcome) return 'outcome.kind'
  if (fieldsOf(outcome)['exitCode'] !== statement.exitCode) return 'outcome.exitCode'
  if (ok !== undefined && ok !== (statement.outcome === 'completed' && statement.exitCode === 0)) return 'ok'
  if (!isDeepStrictEqual(usage, statement.usage)) return 'usage'
  const inside = findInReceipt(receipt, statement)
  return inside && `receipt.${inside}`
}

function findInReceipt(receipt: unknown, statement: Statement): string | undefined {
  const { signature: _, ...unsigned } = fieldsOf(receipt)
  return firstDifference(unsigned, statement.receipt)
}

function firstDifference(one: Record<string, unknown>, other: object = {}): string | undefined {
  const stated = fieldsOf(other)
  const names = [...new Set([...Object.keys(one), ...Object.keys(stated)])]
  return names.find((name) => !isDeepStrictEqual(one[name], stated[name]))
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
