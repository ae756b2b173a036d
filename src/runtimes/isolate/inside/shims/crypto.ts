/** The functions of `crypto` that only need random bytes, which come from the Node process. */
import { bytesLength, stringCodeAt, stringSlice } from '../../../../core/primordials.ts'
import { isTypedArray } from '../../../../core/values/built-in-kinds.ts'
import { readBinary } from '../../../../core/values/read-value.ts'
import { namedError } from './base64.ts'
import type { Outside } from '../protocol.ts'

/** The limit of Web Cryptography. */
const bytesMax = 65_536
const hex = '0123456789abcdef'
const NativeTypeError = TypeError
const { freeze } = Object

export function createCrypto({ random }: Outside): object {
  return freeze({
    getRandomValues: freeze(function getRandomValues(array: unknown): unknown {
      const binary = isTypedArray(array) ? readBinary(array) : undefined
      if (binary === undefined || binary.name.startsWith('Float'))
        throw new NativeTypeError('getRandomValues() takes an array of integers')
      const { bytes } = binary
      const count = bytesLength(bytes)
      if (count > bytesMax)
        throw namedError('QuotaExceededError', `getRandomValues() fills ${bytesMax} bytes at most`)
      const text = random(count)
      for (let index = 0; index < count; index++) bytes[index] = stringCodeAt(text, index)
      return array
    }),
    randomUUID: freeze(function randomUUID(): string {
      const text = random(16)
      let digits = ''
      for (let index = 0; index < 16; index++) {
        let byte = stringCodeAt(text, index)
        if (index === 6) byte = (byte & 0x0f) | 0x40
        if (index === 8) byte = (byte & 0x3f) | 0x80
        digits += `${hex[byte >> 4]}${hex[byte & 15]}`
      }
      const part = (start: number, end: number): string => stringSlice(digits, start, end)
      return `${part(0, 8)}-${part(8, 12)}-${part(12, 16)}-${part(16, 20)}-${part(20, 32)}`
    }),
  })
}
