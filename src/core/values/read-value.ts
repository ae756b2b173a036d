/**
 * Reads objects of guest code without trusting them: if a getter, proxy trap or patched built-in throws, the result is
 * an `Unreadable`, never an exception. Used by the encoder.
 */
import {
  isAnyArrayBuffer,
  isBigIntObject,
  isBooleanObject,
  isDataView,
  isNativeError,
  isNumberObject,
  isStringObject,
  isTypedArray,
} from './built-in-kinds.ts'
import {
  getOwnPropertyDescriptor,
  getPrototypeOf,
  messageOf,
  objectKeys,
  uncurryThis,
  hasOwn,
  isArray,
} from '../primordials.ts'

/** The result of a read that threw: the message of the exception. */
export class Unreadable {
  readonly #isOurs = true
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
  /** Unlike `instanceof`, runs no code of the value. */
  static is(value: object): value is Unreadable {
    return #isOurs in value && value.#isOurs
  }
}

/** The bytes of a buffer or view, and the name of its type. */
export interface Binary {
  readonly name: string
  readonly bytes: Uint8Array
}

const objectPrototype = Object.prototype
const errorPrototype = Error.prototype
const isPrototypeOf = uncurryThis(Object.prototype.isPrototypeOf)
const ByteView = Uint8Array

function getter(prototype: object, key: string | symbol): (self: unknown) => unknown {
  return uncurryThis(getOwnPropertyDescriptor(prototype, key)?.get as (this: unknown) => unknown)
}

const typedArray = getPrototypeOf(Uint8Array.prototype) as object
const typedArrayName = getter(typedArray, Symbol.toStringTag) as (self: unknown) => string
const typedArrayBuffer = getter(typedArray, 'buffer') as (self: unknown) => ArrayBufferLike
const typedArrayOffset = getter(typedArray, 'byteOffset') as (self: unknown) => number
const typedArrayLength = getter(typedArray, 'byteLength') as (self: unknown) => number
const dataViewBuffer = getter(DataView.prototype, 'buffer') as (self: unknown) => ArrayBufferLike
const dataViewOffset = getter(DataView.prototype, 'byteOffset') as (self: unknown) => number
const dataViewLength = getter(DataView.prototype, 'byteLength') as (self: unknown) => number
const unboxNumber = uncurryThis(Number.prototype.valueOf)
const unboxString = uncurryThis(String.prototype.valueOf)
const unboxBoolean = uncurryThis(Boolean.prototype.valueOf)
const unboxBigInt = uncurryThis(BigInt.prototype.valueOf)

/** Whether it is an object literal, or made by `Object.create(null)`. */
export function isPlain(value: object): boolean {
  try {
    const prototype: unknown = getPrototypeOf(value)
    return prototype === objectPrototype || prototype === null
  } catch {
    return false
  }
}

/** Like `Array.isArray`, but without its exception for a revoked proxy. */
export function isList(value: object): value is readonly unknown[] {
  try {
    return isArray(value)
  } catch {
    return false
  }
}

export function isError(value: object): value is Error {
  try {
    return isNativeError(value) || isPrototypeOf(errorPrototype, value)
  } catch {
    return false
  }
}

/** Own enumerable string keys. */
export function readKeys(value: object): readonly string[] | Unreadable {
  try {
    return objectKeys(value)
  } catch (thrown) {
    return new Unreadable(messageOf(thrown))
  }
}

export function readProperty(value: object, key: string | number): unknown {
  try {
    return (value as Record<string | number, unknown>)[key]
  } catch (thrown) {
    return new Unreadable(messageOf(thrown))
  }
}

/** Whether it is an own property. */
export function hasField(value: object, key: string | number): boolean {
  try {
    return hasOwn(value, key)
  } catch {
    return false
  }
}

/** The primitive inside `new Number(1)` and similar objects; `undefined` for everything else. */
export function unboxed(value: object): number | string | boolean | bigint | undefined {
  if (isNumberObject(value)) return unboxNumber(value)
  if (isStringObject(value)) return unboxString(value)
  if (isBooleanObject(value)) return unboxBoolean(value)
  if (isBigIntObject(value)) return unboxBigInt(value)
  return undefined
}

/** The bytes of an ArrayBuffer, DataView or typed array; `undefined` for everything else. */
export function readBinary(value: object): Binary | undefined {
  try {
    if (isTypedArray(value)) {
      const bytes = new ByteView(typedArrayBuffer(value), typedArrayOffset(value), typedArrayLength(value))
      return { name: typedArrayName(value), bytes }
    }
    if (isDataView(value)) {
      const bytes = new ByteView(dataViewBuffer(value), dataViewOffset(value), dataViewLength(value))
      return { name: 'DataView', bytes }
    }
    return isAnyArrayBuffer(value) ? { name: 'ArrayBuffer', bytes: new ByteView(value) } : undefined
  } catch {
    // A detached or shrunk buffer has nothing left to read.
    return undefined
  }
}

/** What a function looks like to a person. */
export function functionText(value: object): string {
  try {
    const name: unknown = getOwnPropertyDescriptor(value, 'name')?.value
    return typeof name === 'string' && name !== '' ? `[Function: ${name}]` : '[Function (anonymous)]'
  } catch {
    return '[Function]'
  }
}

/** What an object that is only a handle (a promise, a URL, an iterator) looks like; `undefined` if it is not one. */
export function handleText(value: object): string | undefined {
  try {
    // Classes of the platform name themselves this way; classes of guest code seldom do, and have fields to show.
    return typeof (value as { [Symbol.toStringTag]?: unknown })[Symbol.toStringTag] === 'string'
      ? `${value as unknown as string}`
      : undefined
  } catch {
    return '[object]'
  }
}

export const textOr = (value: unknown, fallback: string): string =>
  typeof value === 'string' ? value : fallback
