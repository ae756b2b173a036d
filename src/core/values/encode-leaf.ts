/**
 * Encodes single values in the tagged format of `values.ts`: numbers, integers, dates, and what cannot cross. Runs
 * after guest code, so it uses captured built-ins only.
 */
import { isDate, isRegExp } from './built-in-kinds.ts'
import { bigIntText, isFiniteNumber, jsonString, stringSlice, uncurryThis } from '../primordials.ts'
import { readProperty, textOr, unboxed } from './read-value.ts'

// Only people read these texts, so they need not be long.
const descriptionMax = 1024
// Python refuses longer decimal literals by default, and parsing decimals is not linear in every engine.
const hugeInteger = 10n ** 4000n

const dateTime = uncurryThis(Date.prototype.getTime)
const dateText = uncurryThis(Date.prototype.toISOString)

/**
 * Stands for a value of the guest that could not cross, such as a function, and describes it. Recognize it with
 * `instanceof` or `Unserializable.is(value)`.
 */
export class Unserializable {
  readonly #isOurs = true
  /** How the value looks to a person, as the guest described it. */
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
  /** Unlike `instanceof`, runs no code of the value. */
  static is(value: object): value is Unserializable {
    return #isOurs in value && value.#isOurs
  }
}

export const encodeUnserializable = (text: string): string =>
  `{"$type":"Unserializable","text":${jsonString(stringSlice(text, 0, descriptionMax))}}`

export function encodeNumber(value: number): string {
  if (!isFiniteNumber(value)) return `{"$type":"${value}"}`
  return value === 0 && 1 / value < 0 ? '{"$type":"-0"}' : `${value}`
}

export function encodeInteger(value: bigint): string {
  return `{"$type":"BigInt","value":"${integerText(value)}"}`
}

/** Decimal, or hexadecimal for long ones, because decimal digits take quadratic time. */
export function integerText(value: bigint): string {
  if (value < hugeInteger && value > -hugeInteger) return bigIntText(value)
  return value < 0n ? `-0x${bigIntText(-value, 16)}` : `0x${bigIntText(value, 16)}`
}

/** Dates and regular expressions: objects with an identity but without other objects in them. Otherwise `undefined`. */
export function encodeDateOrPattern(value: object): string | undefined {
  if (isDate(value)) return encodeDate(value)
  return isRegExp(value) ? encodeRegExp(value) : undefined
}

/** Objects that wrap a primitive, whose identity does not matter. `undefined` for all others. */
export function encodePrimitiveObject(value: object): string | undefined {
  if (Unserializable.is(value)) return encodeUnserializable(value.text)
  const primitive = unboxed(value)
  switch (typeof primitive) {
    case 'number':
      return encodeNumber(primitive)
    case 'bigint':
      return encodeInteger(primitive)
    case 'boolean':
      return primitive ? 'true' : 'false'
    case 'string':
      return jsonString(primitive)
    case 'undefined':
      return undefined
  }
}

function encodeDate(value: Date): string {
  const isValid = isFiniteNumber(dateTime(value))
  return `{"$type":"Date","value":${isValid ? `"${dateText(value)}"` : 'null'}}`
}

function encodeRegExp(value: RegExp): string {
  const source = textOr(readProperty(value, 'source'), '(?:)')
  const flags = textOr(readProperty(value, 'flags'), '')
  return `{"$type":"RegExp","source":${jsonString(source)},"flags":${jsonString(flags)}}`
}
