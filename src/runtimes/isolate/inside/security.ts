/**
 * Errors for forbidden actions of a program. This module remembers the error objects: a program cannot forge such an error,
 * because it is recognized by identity.
 */
import { defineProperty, uncurryThis } from '../../../core/primordials.ts'

const ErrorSet = WeakSet<object>
const errorHas = uncurryThis(ErrorSet.prototype.has)
const errorAdd = uncurryThis(ErrorSet.prototype.add)
const TextSet = Set<string>
const textHas = uncurryThis(TextSet.prototype.has)
const textAdd = uncurryThis(TextSet.prototype.add)
const OwnError = Error

const raised = new ErrorSet()
const raisedTexts = new TextSet()

/** `what` is the forbidden thing, such as `Module 'fs'`. */
export function refuse(what: string): Error {
  const error = new OwnError(`Security Error: ${what} is not allowed in sandboxed code`)
  defineProperty(error, 'name', {
    __proto__: null,
    value: 'SecurityError',
    writable: true,
    configurable: true,
  } as PropertyDescriptor)
  errorAdd(raised, error)
  textAdd(raisedTexts, error.message)
  return error
}

export const isSecurityError = (thrown: unknown): boolean =>
  typeof thrown === 'object' && thrown !== null && errorHas(raised, thrown)

/** For a copied error: whether an error with this message was created here. */
export const wasRaised = (message: string): boolean => textHas(raisedTexts, message)
