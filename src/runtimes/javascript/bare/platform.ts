/**
 * What the encoder of values uses of a platform, made of the language alone: a bare realm has nothing else. It stands
 * on the global object while what needs it is loaded. Import it before what needs it; it imports nothing itself.
 */
const { getOwnPropertyDescriptor, getPrototypeOf, prototype: objectPrototype } = Object
const call = Function.prototype.call.bind(Function.prototype.call) as (
  method: unknown,
  self: unknown,
) => unknown

/** Whether a method that only its own kind of object has does not throw. */
function brand(method: unknown): (value: unknown) => boolean {
  return (value) => {
    if (typeof value !== 'object' || value === null) return false
    try {
      call(method, value)
      return true
    } catch {
      return false
    }
  }
}

const getter = (owner: object, name: PropertyKey): unknown => getOwnPropertyDescriptor(owner, name)?.get
const typedArrayName = getter(getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)
const isArrayBuffer = brand(getter(ArrayBuffer.prototype, 'byteLength'))
const isSharedArrayBuffer = brand(getter(SharedArrayBuffer.prototype, 'byteLength'))
const hasSource = brand(getter(RegExp.prototype, 'source'))
const patternPrototype = RegExp.prototype

/** As `node:util/types` has them. */
const types = {
  isAnyArrayBuffer: (value: unknown) => isArrayBuffer(value) || isSharedArrayBuffer(value),
  isBigIntObject: brand(BigInt.prototype.valueOf),
  isBooleanObject: brand(Boolean.prototype.valueOf),
  isDataView: brand(getter(DataView.prototype, 'buffer')),
  isDate: brand(Date.prototype.getTime),
  isMap: brand(getter(Map.prototype, 'size')),
  isNativeError: (Error as unknown as { isError: (value: unknown) => boolean }).isError,
  isNumberObject: brand(Number.prototype.valueOf),
  // The prototype has a source too, and is no pattern.
  isRegExp: (value: unknown) => hasSource(value) && value !== patternPrototype && value !== objectPrototype,
  isSet: brand(getter(Set.prototype, 'size')),
  isStringObject: brand(String.prototype.valueOf),
  isTypedArray: (value: unknown) =>
    typeof value === 'object' && value !== null && call(typedArrayName, value) !== undefined,
}

class LanguageTextEncoder {
  /** UTF-8; a lone surrogate becomes U+FFFD. */
  encode(text: string): Uint8Array {
    const bytes = new Uint8Array(text.length * 3)
    let length = 0
    for (let index = 0; index < text.length; index++) {
      let code = text.codePointAt(index) as number
      if (code > 0xff_ff) index++
      else if (code >= 0xd8_00 && code < 0xe0_00) code = 0xff_fd
      if (code < 0x80) bytes[length++] = code
      else {
        const more = code < 0x8_00 ? 1 : code < 0x1_00_00 ? 2 : 3
        bytes[length++] = (firstByte[more] as number) | (code >> (6 * more))
        for (let rest = more - 1; rest >= 0; rest--) bytes[length++] = 0x80 | ((code >> (6 * rest)) & 0x3f)
      }
    }
    return bytes.subarray(0, length)
  }
}

/** Of a character that this many bytes follow. */
const firstByte = [0, 0xc0, 0xe0, 0xf0]

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The little of Node's that is used. */
const LanguageBuffer = {
  prototype: {
    base64Slice(this: Uint8Array, start: number, end: number): string {
      let text = ''
      for (let index = start; index < end; index += 3) {
        const left = end - index
        const bits =
          ((this[index] as number) << 16) |
          ((left > 1 ? (this[index + 1] as number) : 0) << 8) |
          (left > 2 ? (this[index + 2] as number) : 0)
        text += `${alphabet[bits >> 18]}${alphabet[(bits >> 12) & 63]}`
        text += left > 1 ? alphabet[(bits >> 6) & 63] : '='
        text += left > 2 ? alphabet[bits & 63] : '='
      }
      return text
    },
  },
  from(text: string): Uint8Array {
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
    const bytes = new Uint8Array((text.length / 4) * 3 - padding)
    for (let index = 0, at = 0; index < text.length; index += 4) {
      let bits = 0
      for (let part = 0; part < 4; part++)
        bits = (bits << 6) | (alphabet.indexOf(text[index + part] as string) & 63)
      for (let part = 2; part >= 0 && at < bytes.length; part--) bytes[at++] = (bits >> (8 * part)) & 0xff
    }
    return bytes
  },
}

const platform = {
  process: { versions: {}, getBuiltinModule: () => types },
  Buffer: LanguageBuffer,
  TextEncoder: LanguageTextEncoder,
}
for (const [name, value] of Object.entries(platform))
  Object.defineProperty(globalThis, name, { value, configurable: true })

/** Decoders look for it when they need it. */
export function withBuffer<Result>(decode: () => Result): Result {
  Object.defineProperty(globalThis, 'Buffer', { value: LanguageBuffer, configurable: true })
  const result = decode()
  Reflect.deleteProperty(globalThis, 'Buffer')
  return result
}
