/**
 * Built-ins as they were when this module loaded. Guest code may patch `JSON`, `Map.prototype` or `Array.prototype`. To
 * behave the same afterwards, the harness and the encoder use these functions and never call a method of an object. For
 * the same reason they avoid `for…of`, spread and destructuring of arrays, which run the array iterator: guest code may
 * have patched that, too.
 */
type Method<Self, Arguments extends unknown[], Result> = (this: Self, ...rest: Arguments) => Result

/** Turns `method` into a function whose first argument is `this`. */
export const uncurryThis = Function.prototype.bind.bind(Function.prototype.call) as <
  Self,
  Arguments extends unknown[],
  Result,
>(
  method: Method<Self, Arguments, Result>,
) => (self: Self, ...rest: Arguments) => Result

export const { isArray } = Array
export const { keys: objectKeys, hasOwn, defineProperty, getOwnPropertyDescriptor, getPrototypeOf } = Object
export const { apply } = Reflect
export const jsonString = JSON.stringify as (text: string) => string
export const isFiniteNumber = Number.isFinite as (value: unknown) => value is number

export const stringSlice = uncurryThis(String.prototype.slice)
export const stringIndexOf = uncurryThis(String.prototype.indexOf)
export const stringStartsWith = uncurryThis(String.prototype.startsWith)
export const stringEndsWith = uncurryThis(String.prototype.endsWith)
export const stringIncludes = uncurryThis(String.prototype.includes)
export const stringCodeAt = uncurryThis(String.prototype.charCodeAt)
export const stringRepeat = uncurryThis(String.prototype.repeat)
export const bigIntText = uncurryThis(BigInt.prototype.toString)

const encoder = new TextEncoder()
const encode = uncurryThis(TextEncoder.prototype.encode)
/** UTF-8 bytes; a lone surrogate becomes U+FFFD. */
export const utf8 = (text: string): Uint8Array => encode(encoder, text)

/** `bytes.length` is a getter on a prototype, so guest code can patch it. */
export const bytesLength = uncurryThis(
  getOwnPropertyDescriptor(getPrototypeOf(Uint8Array.prototype) as object, 'length')?.get as (
    this: Uint8Array,
  ) => number,
)

/** The message of any thrown value, read without running its code. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      const message: unknown = (thrown as { message?: unknown }).message
      if (typeof message === 'string') return message
    }
    return `${thrown as string}`
  } catch {
    return 'an error that cannot be shown'
  }
}
