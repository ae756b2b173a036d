/** `atob` and `btoa`. */
import { stringCodeAt, stringIndexOf, stringSlice } from '../../../../core/primordials.ts'

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const { fromCharCode } = String
const NativeError = Error
const whitespace = '\t\n\f\r '

export function encodeBase64(value: unknown): string {
  const text = `${value as string}`
  let result = ''
  for (let index = 0; index < text.length; index += 3) {
    const [first, second, third] = [codeAt(text, index), codeAt(text, index + 1), codeAt(text, index + 2)]
    const bits = (first << 16) | (second << 8) | third
    const left = text.length - index
    result += character(bits >> 18) + character((bits >> 12) & 63)
    result += left > 1 ? character((bits >> 6) & 63) : '='
    result += left > 2 ? character(bits & 63) : '='
  }
  return result
}

export function decodeBase64(value: unknown): string {
  const digits = withoutPadding(withoutWhitespace(`${value as string}`))
  if (digits.length % 4 === 1) throw invalid()
  let result = ''
  let bits = 0
  let count = 0
  for (let index = 0; index < digits.length; index++) {
    const digit = stringIndexOf(alphabet, digits[index] as string)
    if (digit === -1) throw invalid()
    bits = ((bits << 6) | digit) & 0xff_ff_ff
    count += 6
    if (count < 8) continue
    count -= 8
    result += fromCharCode((bits >> count) & 0xff)
  }
  return result
}

const character = (digit: number): string => alphabet[digit] as string

function codeAt(text: string, index: number): number {
  if (index >= text.length) return 0
  const code = stringCodeAt(text, index)
  if (code > 0xff) throw namedError('InvalidCharacterError', 'btoa() takes characters up to U+00FF only')
  return code
}

function withoutWhitespace(text: string): string {
  let result = ''
  for (let index = 0; index < text.length; index++) {
    const unit = text[index] as string
    if (stringIndexOf(whitespace, unit) === -1) result += unit
  }
  return result
}

function withoutPadding(text: string): string {
  if (text.length % 4 !== 0) return text
  const end = text.length - 1
  const padding = text[end] !== '=' ? 0 : text[end - 1] === '=' ? 2 : 1
  return stringSlice(text, 0, text.length - padding)
}

const invalid = (): Error => namedError('InvalidCharacterError', 'The text is not valid base64')

export function namedError(name: string, message: string): Error {
  const error = new NativeError(message)
  error.name = name
  return error
}
