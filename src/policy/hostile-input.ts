/** Callers may pass anything: objects whose getters throw, revoked proxies, bytes that lie about their size. */
import { types } from 'node:util'

import { LazaretError } from '../core/errors/errors.ts'
import { messageOf, uncurryThis } from '../core/primordials.ts'

/** Reads a caller's value. Throws INVALID_REQUEST, whatever the read throws. */
export function readInput<T>(read: () => T): T {
  try {
    return read()
  } catch (cause) {
    if (isOurs(cause)) throw cause
    throw new LazaretError('INVALID_REQUEST', { detail: `It cannot be read: ${messageOf(cause)}.`, cause })
  }
}

/** Even inspecting the thrown value may throw. */
function isOurs(thrown: unknown): boolean {
  try {
    return thrown instanceof LazaretError
  } catch {
    return false
  }
}

const prototype = Object.getPrototypeOf(Uint8Array.prototype) as object
const getterOf = (target: object, name: string) => {
  const { get } = Object.getOwnPropertyDescriptor(target, name) as { get: () => unknown }
  return uncurryThis<unknown, [], unknown>(get)
}
const lengthOf = getterOf(prototype, 'byteLength')
const offsetOf = getterOf(prototype, 'byteOffset')
const bufferOf = getterOf(prototype, 'buffer')
const abortedOf = getterOf(AbortSignal.prototype, 'aborted')

/** The same bytes without the getters of a subclass. Undefined if there are none, as in a transferred array. */
export function plainBytes(value: unknown): Uint8Array | undefined {
  if (!types.isUint8Array(value)) return undefined
  try {
    const [buffer, offset, length] = [bufferOf(value), offsetOf(value), lengthOf(value)]
    return new Uint8Array(buffer as ArrayBuffer, offset as number, length as number)
  } catch {
    return undefined
  }
}

/** Whether the platform created it: the right prototype is not enough. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  try {
    abortedOf(value)
    return true
  } catch {
    return false
  }
}
