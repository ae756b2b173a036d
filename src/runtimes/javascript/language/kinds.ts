/**
 * The functions of `node:util/types` that the encoder of values uses, written with the language alone, for realms without
 * modules. They are created before guest code runs.
 */
const { getOwnPropertyDescriptor, getPrototypeOf, prototype: objectPrototype } = Object
const call = Function.prototype.call.bind(Function.prototype.call) as (
  method: unknown,
  self: unknown,
) => unknown

const getter = (owner: object, name: PropertyKey): unknown => getOwnPropertyDescriptor(owner, name)?.get

type Test = (value: unknown) => boolean

/** `isPlain` may recognize plain objects quickly: without it, each test of such an object throws and catches an exception. */
export function languageKinds(isNativeError: Test, isPlain: (value: object) => boolean) {
  /** Whether `method` does not throw: it accepts only objects of its own class. */
  const brand = (method: unknown): Test => {
    return (value) => {
      if (typeof value !== 'object' || value === null) return false
      try {
        if (isPlain(value)) return false
        call(method, value)
        return true
      } catch {
        return false
      }
    }
  }
  const isArrayBuffer = brand(getter(ArrayBuffer.prototype, 'byteLength'))
  const isSharedArrayBuffer =
    typeof SharedArrayBuffer === 'undefined'
      ? () => false
      : brand(getter(SharedArrayBuffer.prototype, 'byteLength'))
  const typedArrayName = getter(getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)
  const hasSource = brand(getter(RegExp.prototype, 'source'))
  const patternPrototype = RegExp.prototype
  return {
    isAnyArrayBuffer: (value: unknown) => isArrayBuffer(value) || isSharedArrayBuffer(value),
    isBigIntObject: brand(BigInt.prototype.valueOf),
    isBooleanObject: brand(Boolean.prototype.valueOf),
    isDataView: brand(getter(DataView.prototype, 'buffer')),
    isDate: brand(Date.prototype.getTime),
    isMap: brand(getter(Map.prototype, 'size')),
    isNativeError,
    isNumberObject: brand(Number.prototype.valueOf),
    // RegExp.prototype has a source too, but is not a RegExp.
    isRegExp: (value: unknown) => hasSource(value) && value !== patternPrototype && value !== objectPrototype,
    isSet: brand(getter(Set.prototype, 'size')),
    isStringObject: brand(String.prototype.valueOf),
    isTypedArray: (value: unknown) =>
      typeof value === 'object' && value !== null && call(typedArrayName, value) !== undefined,
  }
}
