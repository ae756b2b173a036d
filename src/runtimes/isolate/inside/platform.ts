/**
 * The little of a platform that the readers of values use (`core/`), made of the language alone. A bundle of its own: in
 * front of the others it gives names that they find in their scope, and nobody else anywhere.
 */
declare const $lazaretInside: { platform?: object }

let isError: ((value: unknown) => boolean) | undefined

const { getOwnPropertyDescriptor, getPrototypeOf, prototype: objectPrototype } = Object
const { prototype: arrayPrototype } = Array
const call = Function.prototype.call.bind(Function.prototype.call) as (
  method: unknown,
  self: unknown,
) => unknown

/**
 * Most objects are plain. What the engine throws for each kind that they are not would cost them more than all else; whoever
 * gives another kind such a prototype finds it taken for plain.
 */
const isCommon = (prototype: unknown): boolean =>
  prototype === objectPrototype || prototype === arrayPrototype || prototype === null

/** Whether a method that only its own kind of object has does not throw. */
function brand(method: unknown): (value: unknown) => boolean {
  return (value) => {
    if (typeof value !== 'object' || value === null) return false
    try {
      if (isCommon(getPrototypeOf(value))) return false
      call(method, value)
      return true
    } catch {
      return false
    }
  }
}

const getter = (owner: object, name: PropertyKey): unknown => getOwnPropertyDescriptor(owner, name)?.get
const typedArrayName = getter(getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag)
const hasSource = brand(getter(RegExp.prototype, 'source'))
const patternPrototype = RegExp.prototype

/** As `node:util/types` has them. */
const types = {
  isAnyArrayBuffer: brand(getter(ArrayBuffer.prototype, 'byteLength')),
  isBigIntObject: brand(BigInt.prototype.valueOf),
  isBooleanObject: brand(Boolean.prototype.valueOf),
  isDataView: brand(getter(DataView.prototype, 'buffer')),
  isDate: brand(Date.prototype.getTime),
  isMap: brand(getter(Map.prototype, 'size')),
  isNativeError: (value: unknown) => isError?.(value) === true,
  isNumberObject: brand(Number.prototype.valueOf),
  // The prototype has a source too, and is no pattern.
  isRegExp: (value: unknown) => hasSource(value) && value !== patternPrototype && value !== objectPrototype,
  isSet: brand(getter(Set.prototype, 'size')),
  isStringObject: brand(String.prototype.valueOf),
  isTypedArray: (value: unknown) =>
    typeof value === 'object' && value !== null && call(typedArrayName, value) !== undefined,
}

class Utf8 {
  /** A lone surrogate becomes U+FFFD. */
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

const base64 = {
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

$lazaretInside.platform = {
  /** The realm of the snapshot lacks this one. */
  addLateKinds(): void {
    ;({ isError } = Error as unknown as { readonly isError: (value: unknown) => boolean })
  },
  process: { versions: {}, getBuiltinModule: () => types },
  Buffer: base64,
  TextEncoder: Utf8,
}
